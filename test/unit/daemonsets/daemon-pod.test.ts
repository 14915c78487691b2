import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonPod, daemonTolerations } from '../../../coordinator/decisions/daemonsets/daemon-pod.js';
import { targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };

test('six tolerations are added after the template’s own, and a seventh with the host network', () => {
  const own = { key: 'mine', operator: 'Exists' };
  assert.equal(daemonTolerations({ tolerations: [own] })[0], own);
  assert.equal(daemonTolerations({}).length, 6);
  assert.ok(
    daemonTolerations({ hostNetwork: true }).some(
      ({ key }) => key === 'node.kubernetes.io/network-unavailable',
    ),
  );
});

test('a finite copy of an automatic toleration is made infinite in its place', () => {
  const tolerations = daemonTolerations({ tolerations: [{ ...NOT_READY, tolerationSeconds: 30 }] });
  assert.deepEqual(tolerations[0], NOT_READY);
  assert.equal(tolerations.length, 6);
});

test('a wildcard that covers an automatic toleration stays first and unchanged', () => {
  const wildcard = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 };
  assert.deepEqual(daemonTolerations({ tolerations: [wildcard] })[0], wildcard);
});

test('a Pod carries its hash, template generation, owner and node affinity', () => {
  const set = daemonSet('web');
  set.metadata.annotations = { 'deprecated.daemonset.template.generation': '3' };
  const pod = daemonPod(set, 'n1', 'abc');
  assert.equal(pod.metadata.generateName, 'web-');
  assert.deepEqual(pod.metadata.labels, {
    app: 'web',
    'controller-revision-hash': 'abc',
    'pod-template-generation': '3',
  });
  assert.equal(pod.metadata.ownerReferences?.[0]?.uid, 'uid-web');
  assert.equal(pod.spec.nodeName, undefined);
  assert.equal(targetNodeOf(pod), 'n1');
});

test('the node affinity replaces required node affinity and keeps preferences', () => {
  const set = daemonSet('web');
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } }];
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'b', operator: 'Exists' }] }] };
  set.spec.template.spec.affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: required,
      preferredDuringSchedulingIgnoredDuringExecution: preferred,
    },
  };
  const affinity = daemonPod(set, 'n1', 'abc').spec.affinity?.nodeAffinity;
  assert.deepEqual(affinity?.preferredDuringSchedulingIgnoredDuringExecution, preferred);
  assert.equal(affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.length, 1);
});

test('a bound Pod’s target is its node, whatever its affinity says', () => {
  const pod = daemonPod(daemonSet('web'), 'n1', 'abc');
  assert.equal(targetNodeOf({ spec: { ...pod.spec, nodeName: 'n2' } }), 'n2');
  assert.equal(targetNodeOf({ spec: { containers: [] } }), undefined);
});
