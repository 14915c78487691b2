/** Groups of hosts by what they would run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planLines } from '../../../coordinator/cli/terminal/plan-text.js';
import { type HostVariant, planVariants } from '../../../coordinator/decisions/plan/plan-variants.js';
import type { DaemonSetPlan } from '../../../shared/kube/fleet/plan-types.js';

const store = (value: string) => ({ path: "hostValues['store']", value, from: 'HostValues stores' });
const image = (value: string) => ({ path: 'containers[app].image', value, from: 'DaemonSetOverride big' });

function host(node: string, tag: string, settings: HostVariant['settings'], isChanging = false): HostVariant {
  return { node, isChanging, images: { app: tag }, settings };
}

test('hosts with equal images and settings are one variant, the largest first', () => {
  const { variants, otherVariants } = planVariants([
    host('a', 'app:2', [store('1'), image('app:2')], true),
    host('b', 'app:1', [store('1')]),
    host('c', 'app:1', [store('1')], true),
    host('d', 'app:1', [store('2')]),
  ]);
  assert.deepEqual(
    variants.map(({ nodes, hosts, changes, images }) => [nodes.join(), hosts, changes, images.app]),
    [
      ['b,c', 2, 1, 'app:1'],
      ['a', 1, 1, 'app:2'],
      ['d', 1, 0, 'app:1'],
    ],
  );
  assert.deepEqual(variants[1]?.settings, [image('app:2'), store('1')], 'sorted by path');
  assert.equal(otherVariants, undefined);
});

test('a value of its own for each host does not divide the hosts', () => {
  const hosts = Array.from({ length: 5_000 }, (_, index) =>
    host(`n${index}`, 'app:1', [store(String(index))]),
  );
  const { variants } = planVariants(hosts);
  assert.deepEqual(variants, [
    {
      images: { app: 'app:1' },
      settings: [{ path: "hostValues['store']", distinctValues: 5_000 }],
      hosts: 5_000,
      changes: 0,
      nodes: hosts.slice(0, 10).map(({ node }) => node),
    },
  ]);
});

test('twenty values divide the hosts', () => {
  const hosts = Array.from({ length: 40 }, (_, index) =>
    host(`n${index}`, 'app:1', [store(String(index % 20))]),
  );
  assert.equal(planVariants(hosts).variants.length, 20);
});

test('at most 50 variants are listed, and the others are counted', () => {
  const hosts = Array.from({ length: 60 }, (_, index) => host(`n${index}`, `app:${index}`, []));
  const { variants, otherVariants } = planVariants(hosts);
  assert.deepEqual([variants.length, otherVariants], [50, { variants: 10, hosts: 10 }]);
});

test('a terminal shows the variants, and nothing for a plain DaemonSet', () => {
  const plan: DaemonSetPlan = {
    ...{
      namespace: 'default',
      name: 'web',
      change: 'None',
      revision: 'r',
      sentence: 'S.',
      reasons: [],
      waves: [],
    },
    ...{ counts: { start: 0, stop: 0, replace: 0, wait: 0, keep: 2, none: 0 }, assumptions: [], hosts: [] },
    ...planVariants([host('a', 'app:2', [image('app:2'), store('1')]), host('b', 'app:1', [])]),
  };
  const linesOf = (daemonSet: DaemonSetPlan) =>
    planLines(
      {
        kind: 'Plan',
        apiVersion: 'v1',
        verdict: 'NoChange',
        daemonSets: [daemonSet],
        refused: [],
        notes: [],
      },
      20,
    ).join('\n');
  assert.match(
    linesOf(plan),
    /1 +0 +app=app:2 +a +containers\[app\]\.image=app:2 \(DaemonSetOverride big\); hostValues\['store'\]=1 \(HostValues stores\)/,
  );
  assert.doesNotMatch(linesOf({ ...plan, ...planVariants([host('b', 'app:1', [])]) }), /IMAGES/);
});
