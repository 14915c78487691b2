/** Whether a host admits a new Pod, by its resources (pkg/kubelet/lifecycle/predicate.go). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countedState } from '../../../agent/decisions/admission/counted-state.js';
import { type OtherPod, resourceAdmission } from '../../../agent/decisions/admission/resource-admission.js';
import { type AssignedPod, afterAssign, afterUnassign } from '../../../agent/decisions/pods/assigned-pod.js';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import type { PodSpec, ResourceList } from '../../../shared/kube/pods/pod-types.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';
import { attempt, viewOf } from '../../harness/pods/pod-views.js';

const ALLOCATABLE = { cpu: '1', memory: '1Gi', 'ephemeral-storage': '10Gi', pods: '3' };

const specOf = (requests: ResourceList, changes: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: 'app', image: 'app:1', resources: { requests } }],
  ...changes,
});
const other = (uid: string, requests: ResourceList, state: OtherPod['state'] = 'active'): OtherPod => ({
  uid,
  pod: { spec: specOf(requests) },
  isStatic: false,
  state,
});
const CRITICAL = { priority: 2_000_000_000 };

describe('a new Pod', () => {
  const cases: [rule: string, spec: PodSpec, others: OtherPod[], expected: string][] = [
    [
      'that requests what is free is admitted',
      specOf({ cpu: '500m' }),
      [other('a', { cpu: '500m' })],
      'admit',
    ],
    [
      'that requests more CPU is rejected',
      specOf({ cpu: '600m', memory: '2Gi' }),
      [other('a', { cpu: '500m' })],
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 600, used: 500, capacity: 1000",
    ],
    [
      'that requests more memory is rejected',
      specOf({ memory: '1Gi' }),
      [other('a', { memory: '1Mi' })],
      "OutOfmemory: Node didn't have enough resource: memory, requested: 1073741824, used: 1048576, capacity: 1073741824",
    ],
    [
      'that requests more disk is rejected',
      specOf({ 'ephemeral-storage': '11Gi' }),
      [],
      "OutOfephemeral-storage: Node didn't have enough resource: ephemeral-storage, requested: 11811160064, used: 0, capacity: 10737418240",
    ],
    [
      'that requests nothing is rejected beyond the number of Pods',
      specOf({}),
      [other('a', {}), other('b', {}), other('c', {})],
      "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    ],
    ['that requests nothing needs no free CPU', specOf({}), [other('a', { cpu: '2' })], 'admit'],
    [
      'is not rejected for a resource that the host does not have',
      specOf({ 'example.com/gpu': 1 }),
      [],
      'admit',
    ],
    ['waits for a Pod that stops', specOf({ cpu: '600m' }), [other('a', { cpu: '500m' }, 'leaving')], 'wait'],
    [
      'is rejected if what stops does not free enough',
      specOf({ cpu: '600m' }),
      [other('a', { cpu: '500m' }, 'leaving'), other('b', { cpu: '450m' })],
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 600, used: 450, capacity: 1000",
    ],
    [
      'waits while a Pod that it does not fit next to is undecided',
      specOf({ cpu: '1500m' }),
      [other('a', {}, 'undecided')],
      'wait',
    ],
    ['does not wait if it fits anyway', specOf({ cpu: '500m' }), [other('a', {}, 'undecided')], 'admit'],
    [
      'preempts if it is critical',
      specOf({ cpu: '600m' }, CRITICAL),
      [other('a', { cpu: '300m' }), other('b', { cpu: '400m' })],
      'preempt a',
    ],
    [
      'preempts if it is of a system class, whose priority the manifest does not state',
      specOf({ cpu: '1' }, { priorityClassName: 'system-node-critical' }),
      [other('a', { cpu: '300m' })],
      'preempt a',
    ],
    [
      'preempts for the number of Pods',
      specOf({}, CRITICAL),
      [other('a', {}), other('b', { cpu: '1' }), other('c', { cpu: '1' })],
      'preempt a',
    ],
    [
      'never preempts a Pod that stops anyway',
      specOf({ cpu: '600m' }, CRITICAL),
      [other('a', { cpu: '500m' }), other('b', { cpu: '500m' }, 'leaving')],
      'preempt a',
    ],
    [
      'waits for earlier victims before it preempts more Pods',
      specOf({ cpu: '600m' }, CRITICAL),
      [other('a', { cpu: '400m' }), other('b', { cpu: '500m' }, 'leaving')],
      'wait',
    ],
    [
      'is rejected if no set of Pods frees enough',
      specOf({ cpu: '1100m' }, CRITICAL),
      [other('a', { cpu: '300m' })],
      'UnexpectedAdmissionError: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 100), ]',
    ],
  ];
  for (const [rule, spec, others, expected] of cases) {
    test(rule, () => {
      const admission = resourceAdmission({ spec }, { isStatic: false, allocatable: ALLOCATABLE, others });
      const text =
        admission.kind === 'reject'
          ? `${admission.rejection.reason}: ${admission.rejection.message}`
          : [admission.kind, ...(admission.kind === 'preempt' ? admission.victims : [])].join(' ');
      assert.equal(text, expected);
    });
  }

  test('from a manifest on the host is critical', () => {
    const capacity = { allocatable: ALLOCATABLE, others: [other('a', { cpu: '1' })] };
    const spec = specOf({ cpu: '500m' });
    assert.equal(resourceAdmission({ spec }, { ...capacity, isStatic: true }).kind, 'preempt');
    assert.equal(resourceAdmission({ spec }, { ...capacity, isStatic: false }).kind, 'reject');
  });
});

describe('another Pod of the host', () => {
  const NOW = 1_000;
  const at = (name: string, acceptedAt: number): AssignedPod =>
    afterAssign(undefined, { uid: name, digest: name, pod: podOf(name) }, acceptedAt);
  const own = at('own', NOW);
  const ended = { reason: 'Preempting', message: '', deadline: NOW };
  const KNOWN = {
    assigned: at('other', NOW - 1),
    isInspected: true,
    isFinished: false,
    mayRun: true,
    isAdmitted: true,
    waitsForPredecessor: false,
    isBeingPreempted: false,
  };
  const fresh = { mayRun: false, isAdmitted: false };
  const cases: [rule: string, changes: Partial<typeof KNOWN>, expected: string | undefined][] = [
    ['that was admitted is active', {}, 'active'],
    ['that was admitted later is active', { assigned: at('other', NOW + 1) }, 'active'],
    ['that came before and is not admitted is undecided', fresh, 'undecided'],
    [
      'that came before and waits for its predecessor is active',
      { ...fresh, waitsForPredecessor: true },
      'active',
    ],
    [
      'that came after and is not admitted does not count',
      { ...fresh, assigned: at('other', NOW + 1) },
      undefined,
    ],
    ['that came at the same time counts by its uid', { ...fresh, assigned: at('a', NOW) }, 'undecided'],
    [
      'that came at the same time with a higher uid does not count',
      { ...fresh, assigned: at('z', NOW) },
      undefined,
    ],
    [
      'that this agent has not inspected is undecided',
      { isInspected: false, assigned: at('z', NOW + 1) },
      'undecided',
    ],
    [
      'that is deleted and still has a container leaves',
      { assigned: afterUnassign(at('a', 0), 0) },
      'leaving',
    ],
    [
      'that is deleted and runs no longer does not count',
      { assigned: afterUnassign(at('a', 0), 0), mayRun: false },
      undefined,
    ],
    ['that the host ended leaves', { assigned: { ...at('a', 0), terminal: ended } }, 'leaving'],
    [
      'that the host rejected does not count',
      { assigned: { ...at('a', 0), terminal: ended }, mayRun: false },
      undefined,
    ],
    [
      'that the host ended before the agent restarted is undecided',
      { assigned: { ...at('a', 0), terminal: ended }, isInspected: false, mayRun: false },
      'undecided',
    ],
    ['that has succeeded does not count', { isFinished: true, mayRun: false }, undefined],
    ['that has succeeded in a running sandbox leaves', { isFinished: true }, 'leaving'],
    ['that is about to be preempted leaves', { isBeingPreempted: true }, 'leaving'],
  ];
  for (const [rule, changes, expected] of cases) {
    test(rule, () => assert.equal(countedState(own, { ...KNOWN, ...changes }), expected));
  }
});

describe('the admission of a Pod', () => {
  const capacity = { isStatic: false, allocatable: ALLOCATABLE, others: [other('a', { cpu: '1' })] };
  const pod = (requests: ResourceList) => ({ spec: specOf(requests) });

  test('comes after all other reasons against it', () => {
    const view = { ...viewOf({ ...pod({ cpu: '1' }), waitsForPredecessor: true }), capacity };
    assert.deepEqual(nextAction(view), { kind: 'wait' });
    const policy = { ...viewOf(pod({ cpu: '1' })), capacity, pressures: ['DiskPressure' as const] };
    const action = nextAction(policy);
    assert.equal(action.kind === 'reject' && action.rejection.reason, 'Evicted');
  });

  test('is a step of its own, and is not repeated for a Pod with containers', () => {
    assert.deepEqual(nextAction({ ...viewOf(pod({})), capacity }), { kind: 'admit' });
    const begun = viewOf({ ...pod({ cpu: '1' }), containers: [attempt({})] });
    assert.deepEqual(nextAction({ ...begun, capacity }), { kind: 'wait' });
  });

  test('is checked again every second while Pods stop', () => {
    const leaving = { ...capacity, others: [other('a', { cpu: '1' }, 'leaving')] };
    const view = viewOf(pod({ cpu: '1' }));
    assert.deepEqual(nextAction({ ...view, capacity: leaving }), { kind: 'wait', until: view.now + 1000 });
  });
});
