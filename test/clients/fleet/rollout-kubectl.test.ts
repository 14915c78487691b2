/** Rollouts by kubectl, old and new, on simulated hosts. Also checks invariants at each point in time of a rollout. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { WatchedEvent } from '../../harness/api/coordinator-api.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { findClient } from '../../harness/clients/client-binaries.js';
import { KUBECTLS } from '../../harness/clients/each-kubectl.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const NODES = 40;
const PODS = '/api/v1/namespaces/default/pods';

type Strategy = DaemonSetSpec['updateStrategy'];

function daemonSet(
  name: string,
  updateStrategy: Strategy = {},
  annotations: Record<string, string> = {},
): string {
  const labels = { app: name };
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy,
      template: {
        metadata: { labels, annotations },
        spec: { containers: [{ name: 'main', image: 'app:1' }] },
      },
    },
  });
}

let fleet: SimulatedFleet;
before(async () => {
  fleet = await startSimulatedFleet(NODES);
});
after(() => fleet.stop());

const finished = (name: string) => `daemon set "${name}" successfully rolled out`;

/** Lines of `rollout status` other than the last line and kubectl's two progress messages. */
function strangeLines(text: string, name: string): string[] {
  const waiting = new RegExp(
    `^Waiting for daemon set "${name}" rollout to finish: (\\d+ out of ${NODES} new pods have been updated|\\d+ of ${NODES} updated pods are available)\\.\\.\\.$|^Waiting for daemon set spec update to be observed\\.\\.\\.$`,
  );
  return text.split('\n').filter((line) => !waiting.test(line) && line !== finished(name));
}

async function rolledOut(kubectl: Kubectl, name: string): Promise<string> {
  const text = await kubectl.ok(`rollout status ds/${name} --timeout=60s`);
  assert.deepEqual(strangeLines(text, name), []);
  assert.ok(text.endsWith(finished(name)));
  return text;
}

/** Number and change cause of each revision. */
async function history(kubectl: Kubectl, name: string): Promise<[string, string][]> {
  const [title, columns, ...rows] = (await kubectl.ok(`rollout history ds/${name}`)).split('\n');
  assert.match(`${title}|${columns}`, new RegExp(`^daemonset.apps/${name} *\\|REVISION +CHANGE-CAUSE$`));
  return rows
    .filter((row) => row !== '')
    .map((row) => [/^\d+/.exec(row)?.[0] ?? '', row.replace(/^\d+ +/, '')]);
}

for (const client of KUBECTLS) {
  const found = findClient(client);
  describe(`rollout commands by ${client}`, () => {
    if ('why' in found) {
      test(`${client} is not installed`, (context: TestContext) => leaveOut(context, client, found.why));
      return;
    }
    const name = client.replace(/[^a-z0-9]/g, '-');
    const image = () => kubectl.ok(`get ds ${name} -o jsonpath={.spec.template.spec.containers[0].image}`);
    let kubectl: Kubectl;
    before(() => {
      kubectl = createKubectl(fleet.kubeconfig, found.path);
    });
    after(() => kubectl.remove());

    test('set image --record starts a rollout, and rollout status waits for its end', async () => {
      await kubectl.ok('apply -f -', daemonSet(name, { rollingUpdate: { maxUnavailable: '25%' } }));
      await rolledOut(kubectl, name);
      assert.match(await kubectl.ok(`set image ds/${name} main=app:2 --record`), /image updated$/);
      const text = await rolledOut(kubectl, name);
      assert.match(text, /out of 40 new pods have been updated/);
    });

    test('rollout history prints change causes and one revision', async () => {
      const rows = await history(kubectl, name);
      assert.deepEqual(rows[0], ['1', '<none>']);
      assert.match(
        rows[1]?.join(' ') ?? '',
        new RegExp(`^2 kubectl.* set image ds/${name} main=app:2 --record=true$`),
      );
      const one = await kubectl.ok(`rollout history ds/${name} --revision=2`);
      assert.match(
        one,
        new RegExp(`^daemonset.apps/${name} with revision #2\\nPod Template:\\n[^]*Image:\\tapp:2\\n`),
      );
      const { code, stderr } = await kubectl.run(['rollout', 'history', `ds/${name}`, '--revision=9']);
      assert.deepEqual([code, /unable to find the specified revision/.test(stderr)], [1, true]);
    });

    test('annotate with a change cause shows it in the next revision', async () => {
      await kubectl.ok(`annotate ds/${name} kubernetes.io/change-cause=third --overwrite`);
      await kubectl.ok(`set image ds/${name} main=app:3`);
      await rolledOut(kubectl, name);
      assert.deepEqual((await history(kubectl, name)).at(-1), ['3', 'third']);
    });

    test('rollout undo reverts to the last or a given revision, and an unknown revision is an error', async () => {
      assert.equal(await kubectl.ok(`rollout undo ds/${name}`), `daemonset.apps/${name} rolled back`);
      await rolledOut(kubectl, name);
      assert.equal(await image(), 'app:2');
      await kubectl.ok(`rollout undo ds/${name} --to-revision=1`);
      await rolledOut(kubectl, name);
      assert.equal(await image(), 'app:1');
      const rows = await history(kubectl, name);
      assert.deepEqual(
        rows.map(([number]) => number),
        ['3', '4', '5'],
      );
      const { code, stderr } = await kubectl.run(['rollout', 'undo', `ds/${name}`, '--to-revision=77']);
      assert.deepEqual([code, /unable to find specified revision 77 in history/.test(stderr)], [1, true]);
    });

    test('rollout restart replaces every Pod', async () => {
      const uids = () => kubectl.ok(`get pods -l app=${name} -o jsonpath={.items[*].metadata.uid}`);
      const before = new Set((await uids()).split(' '));
      assert.equal(await kubectl.ok(`rollout restart ds/${name}`), `daemonset.apps/${name} restarted`);
      await rolledOut(kubectl, name);
      const now = (await uids()).split(' ');
      assert.equal(now.length, NODES);
      assert.deepEqual(
        now.filter((uid) => before.has(uid)),
        [],
      );
    });

    test('get and describe print a controllerrevision', async () => {
      const table = await kubectl.ok(`get controllerrevision -l app=${name} --sort-by=.revision`);
      assert.match(
        table,
        new RegExp(
          `^NAME +CONTROLLER +REVISION +AGE\\n(${name}-\\S+ +daemonset.apps/${name} +\\d+ +\\S+\\n?)+$`,
        ),
      );
      const [first = ''] = table.split('\n').slice(1);
      const text = await kubectl.ok(`describe controllerrevision ${first.split(' ')[0]}`);
      assert.match(text, /Kind: +ControllerRevision/);
      assert.match(text, /Image: +app:\d/);
    });

    test('kubectl itself refuses rollout pause, and status of an OnDelete DaemonSet', async () => {
      const pause = await kubectl.run(['rollout', 'pause', `ds/${name}`]);
      assert.match(pause.stderr, /daemonsets.apps ".*" pausing is not supported/);
      await kubectl.ok('apply -f -', daemonSet(name, { type: 'OnDelete' }));
      const status = await kubectl.run(['rollout', 'status', `ds/${name}`]);
      assert.match(status.stderr, /rollout status is only available for RollingUpdate strategy type/);
      await kubectl.ok(`delete ds ${name}`);
    });
  });
}

/** The worst values of a recorded rollout. */
interface Worst {
  /** Nodes without an available Pod. */
  unavailable: number;
  /** Nodes with two Pods that are not terminating, and Pods on one node. */
  surging: number;
  onOneNode: number;
}

function worstOf(before: readonly Pod[], events: readonly WatchedEvent[], name: string): Worst {
  const pods = new Map(before.map((pod) => [pod.metadata.uid, pod]));
  const worst: Worst = { unavailable: 0, surging: 0, onOneNode: 0 };
  for (const { type, object } of events) {
    const pod = object as unknown as Pod;
    if (pod.metadata.labels?.app !== name) continue;
    if (type === 'DELETED') pods.delete(pod.metadata.uid);
    else pods.set(pod.metadata.uid, pod);
    const live = [...pods.values()].filter(({ metadata }) => !metadata.deletionTimestamp);
    const ready = live.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
    const counts = new Map<string, number>();
    for (const { spec } of live) counts.set(spec.nodeName ?? '', (counts.get(spec.nodeName ?? '') ?? 0) + 1);
    worst.unavailable = Math.max(
      worst.unavailable,
      NODES - new Set(ready.map(({ spec }) => spec.nodeName)).size,
    );
    worst.surging = Math.max(worst.surging, [...counts.values()].filter((count) => count > 1).length);
    worst.onOneNode = Math.max(worst.onOneNode, ...counts.values());
  }
  return worst;
}

const STRATEGIES: [string, Strategy, Worst][] = [
  [
    'maxUnavailable: 1',
    { rollingUpdate: { maxUnavailable: 1 } },
    { unavailable: 1, surging: 0, onOneNode: 1 },
  ],
  [
    'maxUnavailable: 11%, rounded up',
    { rollingUpdate: { maxUnavailable: '11%' } },
    { unavailable: 5, surging: 0, onOneNode: 1 },
  ],
  [
    'maxSurge: 16%, rounded up',
    { rollingUpdate: { maxSurge: '16%', maxUnavailable: 0 } },
    { unavailable: 0, surging: 7, onOneNode: 2 },
  ],
];

describe('invariants at all times of a rollout', () => {
  for (const [index, [title, strategy, allowed]] of STRATEGIES.entries()) {
    test(title, async () => {
      const kubectl = createKubectl(fleet.kubeconfig);
      const name = `moment-${index}`;
      // Longer than the controller needs to replace the next Pod, so the budget is what limits the rollout.
      const annotations = { 'simulate.everynode.dev/ready-after': '200ms' };
      await kubectl.ok('apply -f -', daemonSet(name, strategy, annotations));
      await rolledOut(kubectl, name);
      const { items, resourceVersion } = await fleet.api.items<Pod>(`${PODS}?labelSelector=app%3D${name}`);
      const watch = await fleet.api.watch(PODS, resourceVersion);
      await kubectl.ok(`set image ds/${name} main=app:2`);
      await rolledOut(kubectl, name);
      watch.close();
      assert.ok(watch.events.length > NODES * 3);
      assert.deepEqual(worstOf(items, watch.events, name), allowed);
      await kubectl.ok(`delete ds ${name}`);
      kubectl.remove();
    });
  }
});
