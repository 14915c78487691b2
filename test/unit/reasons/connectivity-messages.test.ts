/** Messages about a host that is disconnected or has a wrong clock. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { previousExitOf, RunMarker } from '../../../agent/program/run-marker.js';
import { CLOCK_SKEWED, clockCondition, skewOf } from '../../../coordinator/decisions/nodes/clock-skew.js';
import { linkDown, linkEnd } from '../../../coordinator/decisions/nodes/link-end.js';
import { rebootMessage } from '../../../coordinator/decisions/nodes/node-status-events.js';
import { addClockMetrics } from '../../../coordinator/metrics/fleet-metrics.js';
import { graceProblem, nodeGraceMs, ownGraceMs } from '../../../shared/kube/nodes/node-grace-period.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

describe('the reason why a link ended', () => {
  const cases: [code: number, how: Parameters<typeof linkEnd>[1], reason: string][] = [
    [1006, { wasSilent: true }, 'LinkSilent'],
    [1006, {}, 'LinkBroken'],
    [1001, {}, 'AgentStopped'],
    [1000, { wasDismissed: true }, 'LinkDown'],
    [1006, { wasDismissed: true }, 'LinkDown'],
    [1002, {}, 'LinkDown'],
  ];
  for (const [code, how, reason] of cases) {
    test(`${code} ${JSON.stringify(how)}: ${reason}`, () => {
      const condition = linkDown('Connected', linkEnd(code, how));
      assert.deepEqual([condition.type, condition.status, condition.reason], ['Connected', 'False', reason]);
    });
  }
});

describe('a clock', () => {
  const told = (message: string): Condition[] => [
    { type: CLOCK_SKEWED, status: 'True', reason: 'ClockSkew', message },
  ];
  const right = clockCondition(undefined, 0);
  const cases: [rule: string, stored: Condition[] | undefined, skewMs: number, expected: RegExp][] = [
    ['right', undefined, 0, /^False ClockInSync: /],
    ['29 s off, which a slow line can explain', [right], -29_999, /^False ClockInSync: /],
    [
      'half a minute off',
      [right],
      30_000,
      /^True ClockSkew: .* 30 seconds ahead of the coordinator's \(30 s\)/,
    ],
    [
      'in 1970',
      undefined,
      -1_767_225_600_000,
      /^True .* 56 years behind the coordinator's \(-1767225600 s\)/,
    ],
    ['some days off', undefined, 3 * 86_400_000, / 3 days ahead/],
    ['corrected to nearly right', told('x (60 s)'), 20_000, /^True .* 20 seconds ahead/],
    ['set right', told('x (60 s)'), 14_999, /^False/],
    ['as wrong as before, within tolerance', told('x (3600 s)'), 3_700_000, /^True ClockSkew: x \(3600 s\)/],
    ['more wrong than before', told('x (3600 s)'), 4_200_000, / 70 minutes ahead/],
  ];
  for (const [rule, stored, skewMs, expected] of cases) {
    test(rule, () => {
      const { status, reason, message } = clockCondition(stored, skewMs);
      assert.match(`${status} ${reason}: ${message}`, expected);
    });
  }

  test('the skew is read back from the condition message', () => {
    assert.equal(skewOf(clockCondition(undefined, -90_400)), -90_000);
    assert.equal(skewOf(right), undefined);
  });
});

test('a wrong clock has a metric line, a right one has none', async () => {
  const registry = new Registry();
  const node = (name: string, skewMs: number): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { conditions: [clockCondition(undefined, skewMs)] },
  });
  const list = () => [node('ship', -3_600_000), node('shop', 1_000)];
  addClockMetrics(registry, { nodes: { list } } as never);
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(lines, ['everynode_node_clock_skew_seconds{node="ship"} -3600']);
});

test('a reboot is reported when the boot id changed, and only then', () => {
  const info = (bootID: string) => ({ bootID }) as NonNullable<Parameters<typeof rebootMessage>[1]>;
  assert.equal(rebootMessage('n', info('a'), info('b')), 'Node n has been rebooted, boot id: b');
  assert.equal(rebootMessage('n', info('a'), info('a')), undefined);
  assert.equal(rebootMessage('n', undefined, info('a')), undefined);
  assert.equal(rebootMessage('n', info(''), info('a')), undefined);
});

test('a crash of the agent is distinguished from its stop and from the end of its host', async () => {
  assert.deepEqual(
    [undefined, 'boot-1\n', 'boot-2\n'].map((found) => previousExitOf(found, 'boot-1')),
    ['stopped', 'crashed', 'hostDown'],
  );
  const folder = temporaryDirectory();
  const marker = () => new RunMarker(folder, silentLogger);
  const first = marker();
  assert.equal(await first.markStarted('boot-1'), 'stopped');
  assert.equal(await marker().markStarted('boot-1'), 'crashed');
  const third = marker();
  assert.equal(await third.markStarted('boot-2'), 'hostDown');
  await third.markStopped();
  assert.equal(await marker().markStarted('boot-2'), 'stopped');
  const none = new RunMarker(`${folder}/none`, silentLogger);
  assert.equal(
    await none.markStarted('boot-1'),
    'stopped',
    'a disk that takes no mark keeps nobody from running',
  );
});

test('a node’s grace period: the annotation, then the label, and no invalid value', () => {
  const key = 'fleet.everynode.dev/grace-period';
  const cases: [Parameters<typeof ownGraceMs>[0], number | undefined][] = [
    [{}, undefined],
    [{ annotations: { [key]: '36h' } }, 129_600_000],
    [{ labels: { [key]: '90s' } }, 90_000],
    [{ labels: { [key]: '90s' }, annotations: { [key]: '5m' } }, 300_000],
    [{ annotations: { [key]: '999ms' } }, undefined],
    [{ annotations: { [key]: '577h' } }, undefined],
    [{ annotations: { [key]: 'soon' } }, undefined],
  ];
  for (const [metadata, ms] of cases) assert.equal(ownGraceMs(metadata), ms, JSON.stringify(metadata));
  assert.equal(nodeGraceMs({}, 40_000), 40_000);
  assert.equal(nodeGraceMs({ labels: { 'fleet.everynode.dev/link': 'metered' } }, 40_000), 480_000);
  assert.equal(graceProblem('576h'), undefined);
});
