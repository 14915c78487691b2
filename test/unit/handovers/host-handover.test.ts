/** Validity of the handover annotation on a Pod. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  HANDOVER_ANNOTATION,
  handoverOf,
  withSuccessor,
} from '../../../shared/kube/handovers/host-handover.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';

const MAKER = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', uid: 'ds', controller: true };

function podOf(metadata: Partial<ObjectMeta> = {}, spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-b', namespace: 'shop', uid: 'b', ownerReferences: [MAKER], ...metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:2' }], ...spec },
  };
}

function bearing(text: string, metadata: Partial<ObjectMeta> = {}, spec: Partial<PodSpec> = {}): Pod {
  return podOf({ name: 'web-a', uid: 'a', annotations: { [HANDOVER_ANNOTATION]: text }, ...metadata }, spec);
}

const turnTo = (successor: unknown) => JSON.stringify({ successor });

describe('a handover annotation', () => {
  test('is valid when its successor has the Pod’s own namespace, node and controller', () => {
    const pod = bearing(turnTo(podOf()));
    assert.equal(handoverOf(pod)?.successor.metadata.uid, 'b');
    assert.equal(withSuccessor(pod).length, 2);
  });

  const CASES: [string, Pod][] = [
    ['another namespace', bearing(turnTo(podOf({ namespace: 'kube-system' })))],
    ['another node', bearing(turnTo(podOf({}, { nodeName: 'n2' })))],
    ['another controller', bearing(turnTo(podOf({ ownerReferences: [{ ...MAKER, uid: 'other' }] })))],
    [
      'an owner that is not a controller',
      bearing(turnTo(podOf({ ownerReferences: [{ ...MAKER, controller: false }] }))),
    ],
    ['no controller', bearing(turnTo(podOf({ ownerReferences: [] })), { ownerReferences: [] })],
    ['no node', bearing(turnTo(podOf({}, { nodeName: undefined })), {}, { nodeName: undefined })],
    ['no uid', bearing(turnTo(podOf({ uid: '' })))],
    [
      'owners that are not a list',
      bearing(turnTo({ ...podOf(), metadata: { ...podOf().metadata, ownerReferences: {} } })),
    ],
    ['a successor that is not a Pod', bearing(turnTo(null))],
    ['text that is not JSON', bearing('{')],
  ];
  for (const [what, pod] of CASES) {
    test(`not with ${what}`, () => {
      assert.equal(handoverOf(pod), undefined);
      assert.deepEqual(withSuccessor(pod), [pod]);
    });
  }
});
