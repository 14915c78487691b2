/** One DaemonSet on one node. Each row changes one thing about a running Pod, and names the resulting code. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type NodeRolloutStatus,
  REASON_CODES,
  type ReasonInput,
  reasonFor,
} from '../../../coordinator/decisions/reasons/reason-code.js';
import { reasonSentence } from '../../../coordinator/decisions/reasons/reason-sentence.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { CONFIRMED_CONDITION, HANDOVER_CONDITION } from '../../../shared/kube/handovers/host-handover.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { ContainerState, ContainerStatus, Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { type NodeOptions, nodeObject, pinnedTo } from '../../harness/objects/object-builders.js';

const NOON = '2026-01-01T12:00:00Z';
const SUBJECT = { namespace: 'default', daemonSet: 'web', node: 'n1' };

interface PodOptions {
  name?: string;
  hash?: string;
  deleted?: boolean;
  phase?: NonNullable<Pod['status']>['phase'];
  state?: ContainerState;
  ready?: boolean;
  started?: boolean;
  bound?: boolean;
  restartCount?: number;
  reason?: string;
  conditions?: NonNullable<NonNullable<Pod['status']>['conditions']>;
}

/** By default a ready Pod of the current revision, bound to n1. */
function pod(options: PodOptions = {}): Pod {
  const { name = 'web-1', hash = 'new', ready = true, bound = true, phase = 'Running' } = options;
  const status: ContainerStatus = {
    name: 'app',
    state: options.state ?? { running: {} },
    ready,
    started: options.started ?? true,
    restartCount: options.restartCount ?? 0,
    image: 'app:1',
    imageID: '',
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'web', 'controller-revision-hash': hash },
      ...(options.deleted ? { deletionTimestamp: NOON } : {}),
    },
    spec: { containers: [], ...(bound ? { nodeName: 'n1' } : pinnedTo('n1')) },
    status: {
      phase,
      ...(options.reason ? { reason: options.reason } : {}),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }, ...(options.conditions ?? [])],
      containerStatuses: [status],
    },
  };
}

function web(spec: Partial<PodSpec> = {}, updateStrategy = 'RollingUpdate'): DaemonSet {
  const set = daemonSet('web', { updateStrategy: { type: updateStrategy } });
  Object.assign(set.spec.template.spec, spec);
  return set;
}

function node(options: NodeOptions = {}, connected = true): ReasonInput['node'] {
  const object = nodeObject('n1', options);
  const status = connected ? 'True' : 'False';
  object.status?.conditions?.push({ type: 'Connected', status, lastTransitionTime: NOON });
  return object;
}

const REFUSAL = {
  message: 'pods "web-" is forbidden: no',
  ...{ count: 4, firstAt: Date.parse(NOON), lastAt: Date.parse(NOON) + 15_000 },
};
const REFUSED =
  /pods "web-" is forbidden: no \(refused 4 times since 2026-01-01T12:00:00Z, last at 2026-01-01T12:00:15Z\)$/;

function reason(over: Partial<ReasonInput>) {
  const current = { hash: 'new', templateGeneration: undefined };
  return reasonFor({ daemonSet: web(), node: node(), pods: [pod()], current, ...over });
}

const waiting = (name: string, message?: string): PodOptions => ({
  ready: false,
  state: { waiting: { reason: name, ...(message ? { message } : {}) } },
});
const turnWaits = (reason: string, message: string) => ({
  ...{ type: HANDOVER_CONDITION, status: 'False' as const, reason, message },
});
const tainted = (key: string, effect: Taint['effect'] = 'NoSchedule') => node({ taints: [{ key, effect }] });
const unscheduled: Pod = {
  ...pod({ bound: false, ready: false }),
  status: {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no cpu.' }],
  },
};
const nominated: Pod = { ...unscheduled, status: { ...unscheduled.status, nominatedNodeName: 'n1' } };
const disrupted = { type: 'DisruptionTarget', status: 'True' as const, reason: 'PreemptionByScheduler' };
const victim = pod({ deleted: true, conditions: [disrupted] });
const vital = pod({ name: 'vital' });
const preemptor: Pod = { ...vital, spec: { ...vital.spec, priority: 7 } };
const deleting = web();
deleting.metadata.deletionTimestamp = NOON;
deleting.metadata.finalizers = ['foregroundDeletion'];
const zoneAffinity: Partial<PodSpec> = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }],
      },
    },
  },
};
const OLD = { hash: 'old' };

const stance = (change: Partial<NodeRolloutStatus>): NodeRolloutStatus => ({
  ...{ code: 'Budget', message: 'soaks', wave: 'shops' },
  ...change,
});

const CASES: [rule: string, over: Partial<ReasonInput>, code: string, because: RegExp][] = [
  ['ready', {}, 'Running', /^it is ready$/],
  ['ready after restarts', { pods: [pod({ restartCount: 3 })] }, 'Running', /restarts so far: 3/],
  ['eligible, no Pod yet', { pods: [] }, 'Creating', /its Pod is due/],
  ['succeeded', { pods: [pod({ phase: 'Succeeded' })] }, 'Creating', /has succeeded/],
  ['container creating', { pods: [pod(waiting('ContainerCreating'))] }, 'Starting', /not started yet: app/],
  ['not bound yet', { pods: [pod({ bound: false })] }, 'Starting', /bound by default-scheduler/],
  ['startup probe pending', { pods: [pod({ ready: false, started: false })] }, 'Starting', /not started/],
  ['not ready', { pods: [pod({ ready: false })] }, 'NotReady', /not ready: app/],
  [
    'crash loop',
    { pods: [pod(waiting('CrashLoopBackOff', 'back-off 10s'))] },
    'Failing',
    /app is in CrashL.*10s/,
  ],
  ['no image', { pods: [pod(waiting('ErrImagePull'))] }, 'Failing', /ErrImagePull/],
  ['ended', { pods: [pod({ state: { terminated: { exitCode: 7 } } })] }, 'Failing', /exit code 7/],
  ['Pod failed', { pods: [pod({ phase: 'Failed' })] }, 'BackOff', /it has failed/],
  [
    'ended by its host for a critical Pod',
    { pods: [pod({ phase: 'Failed', reason: 'Preempting' })] },
    'Preempted',
    /^its host has ended it to start a critical Pod \(Preempting\)$/,
  ],
  [
    'refused by its host for lack of resources',
    { pods: [pod({ phase: 'Failed', reason: 'OutOfcpu' })] },
    'Unschedulable',
    /^its host has refused it \(OutOfcpu\)$/,
  ],
  ['no room', { pods: [unscheduled] }, 'Unschedulable', /^no cpu$/],
  ['room to come', { pods: [nominated] }, 'Preempting', /^Pods of lower priority on n1 must stop first$/],
  ['preempted', { pods: [victim] }, 'Preempted', /^a Pod of higher priority needs .*stopped by 2026/],
  [
    'room taken',
    { pods: [unscheduled], preemptor },
    'Preempted',
    /^Pod default\/vital of priority 7 has taken the room: no cpu$/,
  ],
  ['deleted', { pods: [pod({ deleted: true })] }, 'Terminating', /stopped by 2026/],
  ['deleted next to a new one', { pods: [pod({ deleted: true }), pod({ name: 'b' })] }, 'Running', /ready/],
  ['deleted and ended', { pods: [pod({ deleted: true, phase: 'Failed' })] }, 'Creating', /due/],
  ['old template', { pods: [pod(OLD)] }, 'Updating', /older template, and it is ready/],
  ['old template, terminating', { pods: [pod({ ...OLD, deleted: true })] }, 'Updating', /stopped by/],
  ['old next to new in a surge', { pods: [pod(), pod({ ...OLD, name: 'a' })] }, 'Updating', /older template/],
  ['its wave is open', { pods: [pod(OLD)], rollout: stance({}) }, 'Budget', /shops is open, and its budget/],
  [
    'its wave is not open',
    { pods: [pod(OLD)], rollout: stance({ code: 'WaitingForWave' }) },
    'WaitingForWave',
    /wave shops is not open yet: soaks/,
  ],
  [
    'the policy is paused',
    { pods: [pod(OLD)], rollout: stance({ code: 'RolloutPaused' }) },
    'RolloutPaused',
    /soaks/,
  ],
  [
    'the revision is barred',
    { pods: [pod(OLD)], rollout: stance({ code: 'RolloutFailed' }) },
    'RolloutFailed',
    /barred: soaks/,
  ],
  [
    'it failed and reverted',
    { pods: [pod(OLD)], rollout: stance({ code: 'Failed', failure: 'CrashLoopBackOff: exit code 7' }) },
    'Reverted',
    /^it failed \(CrashLoopBackOff: exit code 7\) and was rolled back to its earlier revision: soaks$/,
  ],
  ['it reverted', { pods: [pod(OLD)], rollout: stance({ code: 'Reverted' }) }, 'Reverted', /rolled back/],
  [
    'its wave needs an approval',
    { pods: [pod(OLD)], rollout: stance({ code: 'WaitingForApproval' }) },
    'WaitingForApproval',
    /wave shops waits for approval/,
  ],
  [
    'no window',
    { pods: [pod(OLD)], rollout: stance({ code: 'OutsideWindow' }) },
    'OutsideWindow',
    /replaced there now: soaks/,
  ],
  ['busy', { pods: [pod(OLD)], rollout: stance({ code: 'UpdateLocked' }) }, 'UpdateLocked', /an update lock/],
  [
    'busy, with a message',
    {
      pods: [pod({ ...OLD, conditions: [turnWaits('UpdateLocked', 'a sale')] })],
      rollout: stance({ code: 'UpdateLocked' }),
    },
    'UpdateLocked',
    /an update lock: a sale$/,
  ],
  [
    'busy until just before',
    {
      pods: [pod({ ...OLD, conditions: [turnWaits('OutsideWindow', 'at 3')] })],
      rollout: stance({ code: 'UpdateLocked' }),
    },
    'UpdateLocked',
    /an update lock$/,
  ],
  [
    'ready, and in confirmation',
    { pods: [pod({ conditions: [{ type: CONFIRMED_CONDITION, status: 'False' }] })] },
    'Running',
    /^it is ready, and its host has not confirmed it yet$/,
  ],
  [
    'no image yet',
    { pods: [pod(OLD)], rollout: stance({ code: 'ImageNotPulled' }) },
    'ImageNotPulled',
    /next image/,
  ],
  [
    'no room',
    { pods: [pod(OLD)], rollout: stance({ code: 'InsufficientResources' }) },
    'InsufficientResources',
    /lacks free resources/,
  ],
  [
    'not reconnected since the start',
    { pods: [pod(OLD)], rollout: stance({ code: 'AwaitingResync' }) },
    'AwaitingResync',
    /not reported since/,
  ],
  [
    'no time',
    { pods: [pod(OLD)], rollout: stance({ code: 'NoTrustedTime' }) },
    'NoTrustedTime',
    /no trusted time/,
  ],
  ['frozen', { pods: [pod(OLD)], rollout: stance({ code: 'Frozen' }) }, 'Frozen', /soaks/],
  ['taken out', { pods: [pod(OLD)], rollout: stance({ code: 'Skipped' }) }, 'Skipped', /an operator skipped/],
  [
    'reconnected, and not updated yet',
    { pods: [pod(OLD)], rollout: stance({ code: 'DeferredOffline' }) },
    'DeferredOffline',
    /when it returns/,
  ],
  [
    'disconnected before its handover',
    { node: node({}, false), pods: [pod(OLD)], rollout: stance({ code: 'DeferredOffline' }) },
    'DeferredOffline',
    /not connected/,
  ],
  [
    'a new Pod in a rollout has its own status',
    { pods: [pod()], rollout: stance({ code: 'RolloutFailed' }) },
    'Running',
    /ready/,
  ],
  ['refused', { pods: [], refusal: REFUSAL }, 'FailedCreate', REFUSED],
  [
    'refused once',
    { pods: [], refusal: { ...REFUSAL, count: 1 } },
    'FailedCreate',
    /\(refused at 2026-01-01T12:00:15Z\)$/,
  ],
  ['old, and its successor rejected', { pods: [pod(OLD)], refusal: REFUSAL }, 'FailedCreate', REFUSED],
  ['runs, and Pods elsewhere are rejected', { refusal: REFUSAL }, 'Running', /ready/],
  [
    'its wave is not open, and Pods elsewhere are rejected',
    { pods: [pod(OLD)], refusal: REFUSAL, rollout: stance({ code: 'WaitingForWave' }) },
    'WaitingForWave',
    /not open/,
  ],
  ['old, OnDelete', { daemonSet: web({}, 'OnDelete'), pods: [pod(OLD)] }, 'UpdateOnDelete', /older/],
  [
    'old, OnDelete, and failing',
    { daemonSet: web({}, 'OnDelete'), pods: [pod({ ...OLD, ...waiting('CrashLoopBackOff') })] },
    'Failing',
    /older template, and container app/,
  ],
  ['link down', { node: node({}, false) }, 'NodeOffline', /not connected since 2026-01-01T12:00:00Z$/],
  ['disconnected for long', { node: node({ ready: 'Unknown' }) }, 'NodeOffline', /not connected/],
  [
    'disconnected for long, and tainted for it',
    {
      node: node({
        ready: 'Unknown',
        taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }],
      }),
    },
    'NodeOffline',
    /not connected/,
  ],
  [
    'offline, but other rules reject it anyway',
    { node: node({}, false), daemonSet: web({ nodeSelector: { disk: 'ssd' } }) },
    'NodeSelectorMismatch',
    /no label disk/,
  ],
  [
    'tainted while its Pod runs',
    { node: tainted('gpu') },
    'KeptDespiteTaint',
    /untolerated taint gpu:NoSchedule/,
  ],
  [
    'tainted while its outdated Pod runs, and a value is missing',
    { node: tainted('gpu'), pods: [pod(OLD)], refusedValues: 'node n1 has no value for x' },
    'KeptDespiteTaint',
    /^untolerated taint gpu:NoSchedule, and its next Pod cannot be made: node n1 has no value for x$/,
  ],
  [
    'disconnected while its outdated Pod runs, and a value is missing',
    { node: node({}, false), pods: [pod(OLD)], refusedValues: 'node n1 has no value for x' },
    'NodeOffline',
    /not connected since 2026-01-01T12:00:00Z, and its next Pod cannot be made: node n1 has no value for x$/,
  ],
  ['tainted, no Pod', { node: tainted('gpu'), pods: [] }, 'UntoleratedTaint', /gpu:NoSchedule/],
  [
    'tainted, Pod terminating',
    { node: tainted('gpu'), pods: [pod({ deleted: true })] },
    'UntoleratedTaint',
    /gpu/,
  ],
  ['evicting taint', { node: tainted('gpu', 'NoExecute') }, 'UntoleratedTaint', /gpu:NoExecute/],
  [
    'not ready but connected',
    { node: tainted('node.kubernetes.io/not-ready') },
    'KeptDespiteTaint',
    /not-ready/,
  ],
  ['tolerated taint', { node: tainted('node.kubernetes.io/disk-pressure') }, 'Running', /ready/],
  ['another node name', { daemonSet: web({ nodeName: 'n2' }) }, 'NodeNameMismatch', /names node n2/],
  [
    'other label',
    { daemonSet: web({ nodeSelector: { disk: 'ssd' } }), node: node({ labels: { disk: 'hdd' } }), pods: [] },
    'NodeSelectorMismatch',
    /requires disk=ssd \(the node has disk=hdd\)/,
  ],
  ['affinity', { daemonSet: web(zoneAffinity), pods: [] }, 'NodeAffinityMismatch', /zone In \(a, b\)/],
  ['node gone', { node: undefined }, 'NodeNotFound', /no such Node/],
  ['set going', { daemonSet: deleting }, 'DaemonSetDeleting', /waits for foregroundDeletion/],
];

describe('the reason code', () => {
  for (const [rule, over, code, because] of CASES) {
    test(`${rule}: ${code}`, () => {
      const found = reason(over);
      assert.equal(found.code, code);
      assert.match(found.because, because);
    });
  }

  test('the cases cover every code', () => {
    const covered = new Set(CASES.map(([, , code]) => code));
    assert.deepEqual(
      REASON_CODES.filter((code) => !covered.has(code)),
      [],
    );
  });
});

describe('the sentence', () => {
  test('states the reason, its cause and a remedy', () => {
    assert.equal(
      reasonSentence(reason({ node: tainted('gpu'), pods: [] }), SUBJECT),
      'default/web does not run on n1: untolerated taint gpu:NoSchedule; ' +
        'if it should, tolerate the taint in the template, or see why it is set: kubectl describe node n1.',
    );
  });

  test('names its Pod', () => {
    assert.equal(
      reasonSentence(reason({ pods: [pod({ ready: false })] }), SUBJECT),
      'default/web runs but is not ready on n1 (Pod web-1): not ready: app; ' +
        'see its logs: kubectl logs -n default web-1 --all-containers.',
    );
  });

  for (const [what, over, advice] of [
    [
      'a missing image',
      waiting('ImagePullBackOff'),
      /; check the image's name .*: kubectl describe pod -n default web-1\.$/,
    ],
    [
      'a missing Secret',
      waiting('CreateContainerConfigError'),
      /; check the ConfigMaps, Secrets.* describe pod/,
    ],
    ['a crash loop', waiting('CrashLoopBackOff'), /logs -n default web-1 --all-containers --previous\.$/],
    ['a run that has ended', { state: { terminated: { exitCode: 7 } } }, /web-1 --all-containers\.$/],
  ] as const) {
    test(`advises what fits ${what}`, () => {
      const sentence = reasonSentence(reason({ pods: [pod(over)] }), SUBJECT);
      assert.match(sentence, advice);
      if (advice.source.includes('describe pod')) assert.doesNotMatch(sentence, /kubectl logs/);
    });
  }

  test('is one complete sentence for every reason', () => {
    for (const [rule, over] of CASES) {
      assert.match(reasonSentence(reason(over), SUBJECT), /^default\/web [a-z][^.]* n1.*: .+; .+\.$/, rule);
      assert.doesNotMatch(reasonSentence(reason(over), SUBJECT), /undefined| {2}/, rule);
    }
  });
});
