/** Handovers that hosts have carried out, and their effect in the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HandoverReports,
  type HandoverReportsDeps,
} from '../../../coordinator/hub/reports/handover-reports.js';
import { ObjectSigner } from '../../../coordinator/hub/restore/object-signer.js';
import type { DeleteOptions } from '../../../coordinator/registry/registry-options.js';
import {
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_LABEL,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import { HANDOVER_ANNOTATION } from '../../../shared/kube/handovers/host-handover.js';
import type { OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const KEY = Buffer.alloc(32, 's');

const owner = (uid: string): OwnerReference => ({
  ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid, controller: true },
});

const podOf = (name: string, labels: Record<string, string> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ name, uid: name, namespace: 'default', labels },
    ownerReferences: [owner('ds')],
  },
  spec: { nodeName: 'n1', containers: [] },
});

/**
 * Returns the metadata with which a coordinator with these past epochs stores the successor of a handover from the
 * epoch `given`. `owners` are the owners that the old Pod has by then.
 */
async function stored(
  pastEpochs: ConstructorParameters<typeof ObjectSigner>[1]['pastEpochs'],
  owners = [owner('ds')],
) {
  return (await taken({ pastEpochs, owners })).pods[0]?.metadata;
}

interface Past {
  pastEpochs?: ConstructorParameters<typeof ObjectSigner>[1]['pastEpochs'];
  owners?: OwnerReference[];
  phase?: PodPhase;
  graceSeconds?: number;
}

/** Returns the stored objects and the order of writes. `phase` and `graceSeconds` belong to the old Pod. */
async function taken({
  pastEpochs = [],
  owners = [owner('ds')],
  phase = 'Running',
  graceSeconds = 30,
}: Past) {
  const successor = podOf('new', { [TEMPLATE_GENERATION_LABEL]: '3', [REVISION_HASH_LABEL]: 'h' });
  const old = podOf('old');
  old.metadata.annotations = { [HANDOVER_ANNOTATION]: JSON.stringify({ successor }) };
  const object = Buffer.from(JSON.stringify(old));
  const seal = new ObjectSigner(KEY, { epoch: 'given', pastEpochs: [] }).sign(
    'n1',
    { uid: 'old', object },
    5,
  );
  const present = {
    ...{ ...old, metadata: { ...old.metadata, ownerReferences: owners }, status: { phase } },
    spec: { ...old.spec, terminationGracePeriodSeconds: graceSeconds },
  };
  const pods: Pod[] = [];
  const writes: string[] = [];
  const turned = new HandoverReports({
    registry: {
      delete: async (_: unknown, __: unknown, { gracePeriodSeconds }: DeleteOptions) => {
        writes.push(gracePeriodSeconds === undefined ? 'delete' : `delete in ${gracePeriodSeconds} s`);
        return { object: old, isRemoved: false };
      },
      restoreObject: async (_: unknown, pod: Pod) => {
        writes.push('put');
        pods.push(pod);
        return { revision: 7 };
      },
    },
    informers: {
      pods: { byUid: (uid: string) => (uid === 'old' ? present : undefined) },
      waitFor: async () => undefined,
    },
    signer: new ObjectSigner(KEY, { epoch: 'now', pastEpochs: pastEpochs }),
    clock: new ManualClock(0),
    log: silentLogger,
  } as unknown as HandoverReportsDeps);
  assert.equal(
    await turned.apply('n1', { uid: 'new', predecessor: { uid: 'old', object, mac: seal } }),
    'taken',
  );
  return { pods, writes };
}

test('the old Pod is deleted first: two Pods never remain', async () => {
  assert.deepEqual((await taken({})).writes, ['delete', 'put']);
});

test('a finished old Pod is deleted last: its deletion is immediate, and would leave the node without a Pod', async () => {
  for (const phase of ['Failed', 'Succeeded'] as const) {
    assert.deepEqual((await taken({ phase })).writes, ['put', 'delete']);
  }
});

test('an old Pod without a grace period gets one second, otherwise it would be deleted at once', async () => {
  assert.deepEqual((await taken({ graceSeconds: 0 })).writes, ['delete in 1 s', 'put']);
});

test('a successor is stored as it was sent', async () => {
  const { labels, ownerReferences } = (await stored([])) ?? {};
  assert.deepEqual(ownerReferences, [owner('ds')]);
  assert.deepEqual(labels, { [TEMPLATE_GENERATION_LABEL]: '3', [REVISION_HASH_LABEL]: 'h' });
});

test('after a restore only the hash identifies the template: generations are assigned again', async () => {
  const { labels } = (await stored([{ epoch: 'given', revision: 2 }])) ?? {};
  assert.deepEqual(labels, { [REVISION_HASH_LABEL]: 'h' });
});

test('a successor has the current owner of the old Pod: none when that was orphaned meanwhile', async () => {
  assert.deepEqual((await stored([], [owner('another')]))?.ownerReferences, [owner('another')]);
  assert.equal((await stored([], []))?.ownerReferences?.length ?? 0, 0);
});
