/** Decisions that a policy leaves to hosts, and how a pending handover counts in a rollout. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toDaemonPod } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { recordNode } from '../../../coordinator/decisions/daemonsets/node-record.js';
import {
  chooseReplacements,
  NODE_UPDATE_STATES,
  type NodeUpdateState,
  nodeUpdateStatus,
} from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import { handoverTerms, handoverWindows } from '../../../coordinator/decisions/handovers/handover-terms.js';
import { podFailureReason } from '../../../coordinator/decisions/reasons/pod-progress.js';
import type { NodeFacts } from '../../../coordinator/decisions/rollouts/node-rollout-facts.js';
import { nodeRolloutState } from '../../../coordinator/decisions/rollouts/node-rollout-state.js';
import { compileMaintenanceSchedules } from '../../../shared/calendar/maintenance-schedule.js';
import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  CONFIRMED_CONDITION,
  HANDOVER_ANNOTATION,
  HANDOVER_CONDITION,
  type HostHandover,
  handoverOf,
  REVERTED_CONDITION,
  WITHDRAWN,
  withdrawalAnnotationFor,
  withdrawnMessage,
  withdrawnSuccessorOf,
} from '../../../shared/kube/handovers/host-handover.js';
import type { ConditionStatus } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { stateText } from '../../harness/controllers/node-states.js';
import { daemonNodeView } from '../../harness/objects/daemon-builders.js';

const stateOf = (...facts: Parameters<typeof nodeRolloutState>) => stateText(nodeRolloutState(...facts));

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const NODE = { name: 'n1', labels: { zone: 'Europe.Berlin' } };

function termsOf(spec: Partial<RolloutPolicySpec>, steering = {}) {
  return handoverTerms({ selector: {}, ...spec }, { handled: 0, ...steering }, NOW)(NODE);
}

describe('handover terms', () => {
  test('are absent where the policy leaves the host no decision', () => {
    assert.equal(termsOf({ waves: [{ name: 'all' }] }), undefined);
  });

  test('have defaults', () => {
    assert.deepEqual(termsOf({ confirm: {}, updateLock: {} }), { confirmSeconds: 300, maxLockSeconds: 3600 });
  });

  test('name the user who overrides the host, and the reason', () => {
    const requests = [
      { id: 1, verb: 'override-locks', targets: ['n1'], reason: 'recall', user: 'ada', time: '' },
      { id: 2, verb: 'override-locks', targets: ['n2'], user: 'bob', time: '' },
    ];
    const terms = termsOf({ updateLock: { maxSeconds: 60 } }, { forced: ['n1', 'n2'], requests });
    assert.deepEqual(terms, { maxLockSeconds: 60, forcedBy: 'ada: recall' });
    assert.equal(termsOf({ updateLock: {} }, { forced: ['*'] })?.forcedBy, 'the rollout');
    assert.equal(termsOf({ confirm: {} }, { forced: ['*'] })?.forcedBy, undefined);
  });

  test("name the windows of a week in the node's local time, and none where they are overridden", () => {
    const windows = [{ schedule: '0 3 * * *', durationSeconds: 3600, timeZoneLabel: 'zone' }];
    const own = termsOf({ windows })?.windows ?? [];
    assert.equal(own.length, 7);
    assert.deepEqual(own[0], { from: '2026-03-02T02:00:00Z', until: '2026-03-02T03:00:00Z' });
    assert.deepEqual(termsOf({ windows }, { overridden: ['n1'] }), {});
  });

  test('leave out what a freeze period covers', () => {
    const windows = [{ schedule: '0 3 * * *', durationSeconds: 2 * 3600 }];
    const freezes = [{ from: '2026-03-02T04:00:00Z', to: '2026-03-05T04:00:00Z' }];
    const hours = compileMaintenanceSchedules({ windows, freezes })({});
    const [first, second] = handoverWindows(hours, NOW) ?? [];
    assert.deepEqual(first, { from: '2026-03-02T03:00:00Z', until: '2026-03-02T04:00:00Z' });
    assert.deepEqual(second, { from: '2026-03-05T04:00:00Z', until: '2026-03-05T05:00:00Z' });
  });
});

const CURRENT = { hash: 'new', templateGeneration: undefined };
const MAKER = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'a', uid: 'ds', controller: true };

function bearing(hash: string, until?: number, waiting?: string): Pod {
  const windows = until === undefined ? undefined : [{ from: '', until: new Date(until).toISOString() }];
  const labels = { [REVISION_HASH_LABEL]: hash };
  const metadata = { name: 'b', uid: 'u', labels, ownerReferences: [MAKER] };
  const turn = { successor: { metadata, spec: { containers: [], nodeName: 'n1' } }, windows };
  const conditions = [
    { type: 'Ready', status: 'True' as const },
    ...(waiting ? [{ type: HANDOVER_CONDITION, status: 'False' as const, reason: waiting }] : []),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      ownerReferences: [MAKER],
      annotations: { [HANDOVER_ANNOTATION]: JSON.stringify(turn) },
    },
    spec: { containers: [], nodeName: 'n1' },
    status: { phase: 'Running', conditions },
  };
}

function situation(pod: Pod): string | undefined {
  const pods = [toDaemonPod(pod, CURRENT)];
  const node = { name: 'n1', exists: true, shouldRun: true, shouldContinueRunning: true, pods };
  return nodeUpdateStatus(node, 0, NOW)?.state;
}

describe('a host with a pending handover', () => {
  test('is part of the update from then on and uses its budget', () => {
    assert.equal(situation(bearing('new')), 'handedOver');
    const held: Partial<Record<NodeUpdateState, string>> = { handedOver: 'n1', oldAvailable: 'n2' };
    const sets = NODE_UPDATE_STATES.map((each) => [each, new Set(held[each] ? [held[each]] : [])]);
    const nodes = Object.fromEntries(sets) as Record<NodeUpdateState, Set<string>>;
    const one = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    assert.deepEqual(chooseReplacements({ desired: 2, covered: 2, nodes }, one), { create: [], replace: [] });
  });

  test('has no handover that it can no longer start', () => {
    assert.equal(situation(bearing('new', NOW)), 'oldAvailable');
    assert.equal(situation(bearing('new', NOW + HOUR)), 'handedOver');
  });

  test('with a revoked handover counts until the host has acknowledged exactly this handover', () => {
    const pod = bearing('new');
    const text = withdrawalAnnotationFor(handoverOf(pod) as HostHandover);
    pod.metadata.annotations = { [HANDOVER_ANNOTATION]: text };
    assert.equal(withdrawnSuccessorOf(pod), 'b');
    assert.equal(handoverOf({ ...pod }), undefined, 'nobody can begin it any more');
    assert.equal(situation({ ...pod }), 'handedOver');
    const said = (message: string) => {
      const condition = { type: HANDOVER_CONDITION, status: 'False' as const, reason: WITHDRAWN, message };
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== HANDOVER_CONDITION);
      return situation({ ...pod, status: { ...pod.status, conditions: [...others, condition] } });
    };
    assert.equal(said(withdrawnMessage('earlier')), 'handedOver', 'an earlier one');
    assert.equal(said(withdrawnMessage('b')), 'oldAvailable');
    const turnAt = (hash: string) => toDaemonPod(pod, { ...CURRENT, hash }).handover;
    assert.deepEqual(turnAt('new'), { forced: false, withdrawn: 'Unacknowledged' });
    assert.equal(turnAt('newer')?.isOutdated, true, 'what it may have begun is of another revision');
  });

  test('with a handover to an outdated revision uses budget, and the handover is revoked', () => {
    assert.equal(situation(bearing('older')), 'handedOver');
    const record = (pod: Pod, shouldRun: boolean) =>
      recordNode(daemonNodeView([toDaemonPod(pod, CURRENT)], { shouldRun }), 0, NOW).handover?.isOutdated ===
      true;
    assert.deepEqual([record(bearing('older'), true), record(bearing('new'), true)], [true, false]);
    assert.equal(record(bearing('new'), false), true, 'tainted since');
    const facts: NodeFacts = { updateState: 'handedOver', contact: 'lost', isOutdated: true };
    assert.equal(stateOf(facts, NOW, { deadlineMs: HOUR }), 'deferred');
    const image: NodeFacts = {
      updateState: 'handedOver',
      contact: 'here',
      waitReason: 'ImageNotPulled',
      waitingSince: 0,
    };
    assert.equal(stateOf({ ...image, isWithdrawn: true }, NOW, { deadlineMs: HOUR }), 'handedOver');
  });

  test('keeps the time when it may start, for the case that it goes offline', () => {
    const turnOf = (pod: Pod) => toDaemonPod(pod, CURRENT).handover;
    const pod = bearing('new', NOW + HOUR, 'UpdateLocked');
    assert.deepEqual(
      turnOf(pod)?.windows?.map(({ until }) => until),
      [NOW + HOUR],
    );
    assert.equal(turnOf(pod)?.holdEndsAt, undefined, 'nobody knows since when it is held');
    const turn = { ...(handoverOf(pod) as HostHandover), maxLockSeconds: 60 };
    const lockedSince = { status: 'False' as const, lastTransitionTime: new Date(NOW).toISOString() };
    const condition = { type: HANDOVER_CONDITION, reason: 'UpdateLocked', ...lockedSince };
    const held = (forcedBy?: string): Pod => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        annotations: { [HANDOVER_ANNOTATION]: JSON.stringify({ ...turn, forcedBy }) },
      },
      status: { phase: 'Running', conditions: [condition] },
    });
    assert.equal(turnOf(held())?.holdEndsAt, NOW + 60_000);
    assert.equal(turnOf(held('ann'))?.holdEndsAt, NOW, 'not against a person');
  });

  test('that goes dark has failed if it had only to begin, and is deferred if it waited', () => {
    const facts: NodeFacts = { updateState: 'handedOver', contact: 'lost' };
    assert.equal(stateOf(facts, NOW, { deadlineMs: HOUR }), 'failed');
    assert.equal(stateOf({ ...facts, waitReason: 'UpdateLocked' }, NOW, { deadlineMs: HOUR }), 'deferred');
    assert.equal(stateOf({ ...facts, contact: 'here' }, NOW, { deadlineMs: HOUR }), 'handedOver');
    assert.equal(stateOf(facts, NOW, {}), 'deferredHandover');
  });

  test('that only lacked the image may have started while offline: it uses budget, and has failed when it is lost', () => {
    const facts: NodeFacts = {
      updateState: 'handedOver',
      contact: 'away',
      waitReason: 'ImageNotPulled',
      waitingSince: NOW,
    };
    const rules = { deadlineMs: HOUR };
    const cases: [Partial<NodeFacts>, string][] = [
      [{}, 'handedOver'],
      [{ contact: 'lost', lostAt: NOW }, 'failed'],
      [{ contact: 'lost', lostAt: NOW, isWithdrawn: true }, 'failed'],
      [{ contact: 'lost', lostAt: NOW, isSkipped: true }, 'skipped'],
      [{ contact: 'lost', isOutdated: true }, 'deferred'],
      [{ contact: 'away', waitReason: 'UpdateLocked' }, 'deferred'],
      [{ contact: 'lost', waitReason: 'OutsideWindow' }, 'deferred'],
      [{ contact: 'lost', waitReason: 'InsufficientResources' }, 'deferred'],
      [{ contact: 'here' }, 'handedOver'],
    ];
    for (const [change, lane] of cases) {
      assert.equal(stateOf({ ...facts, ...change }, NOW, rules), lane, JSON.stringify(change));
    }
    assert.equal(
      stateOf({ ...facts, contact: 'lost' }, NOW, {}),
      'deferredHandover',
      'without failures it does not block its wave, and uses budget',
    );
  });

  test('that does not get the image in time has failed, a busy host has not', () => {
    const facts: NodeFacts = { updateState: 'handedOver', contact: 'here', waitingSince: NOW - HOUR };
    const rules = { deadlineMs: HOUR };
    assert.equal(stateOf({ ...facts, waitReason: 'ImageNotPulled' }, NOW, rules), 'failed');
    assert.equal(stateOf({ ...facts, waitReason: 'ImageNotPulled' }, NOW - 1, rules), 'handedOver');
    assert.equal(stateOf({ ...facts, waitReason: 'UpdateLocked' }, NOW, rules), 'handedOver');
    assert.equal(stateOf({ ...facts, waitReason: 'InsufficientResources' }, NOW, rules), 'failed');
    assert.equal(stateOf({ ...facts, waitReason: 'InsufficientResources' }, NOW - 1, rules), 'handedOver');
  });

  test('measures the time of its new Pod from the end of the old one', () => {
    const old = bearing('new');
    old.metadata.labels = { [REVISION_HASH_LABEL]: 'older' };
    old.metadata.deletionTimestamp = '2026-03-01T12:00:30Z';
    const made = (change: Partial<Pod['status']> = {}): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'b',
        uid: 'u',
        labels: { [REVISION_HASH_LABEL]: 'new' },
        creationTimestamp: '2026-03-01T12:00:00Z',
      },
      spec: { containers: [], nodeName: 'n1' },
      status: { phase: 'Pending', ...change },
    });
    const newPod = (...pods: Pod[]) =>
      recordNode(daemonNodeView(pods.map((pod) => toDaemonPod(pod, CURRENT))), 0, NOW).newPod;
    const waits = {
      type: 'PodReadyToStartContainers',
      status: 'False',
      reason: 'WaitsForPredecessor',
    } as const;
    const heldUp = { createdAt: NOW, awaitsPredecessor: true, predecessorEndsBy: NOW + 30_000 };
    assert.deepEqual(newPod(made(), old), heldUp, 'not a word from it yet');
    assert.deepEqual(newPod(made({ conditions: [waits] })), { createdAt: NOW, awaitsPredecessor: true });
    assert.deepEqual(newPod(made({ startTime: '2026-03-01T13:00:00Z' })), {
      createdAt: NOW,
      startedAt: NOW + HOUR,
    });
    const { name, deletionTimestamp } = old.metadata;
    const plain: Pod = { ...old, metadata: { name, ...(deletionTimestamp && { deletionTimestamp }) } };
    assert.deepEqual(
      newPod(made(), plain),
      { createdAt: NOW },
      'next to an old Pod that it need not wait for',
    );
  });

  test('is done when it has confirmed its new Pod, and is not late meanwhile', () => {
    const pod = bearing('older');
    pod.metadata = { name: 'b', labels: { [REVISION_HASH_LABEL]: 'new' } };
    const confirmed = { type: CONFIRMED_CONDITION, status: 'False' as ConditionStatus };
    pod.status?.conditions?.push(confirmed);
    assert.equal(situation(pod), 'newUnavailable');
    const facts = { updateState: 'newUnavailable', contact: 'here', newPodAt: 0 } as const;
    assert.equal(stateOf({ ...facts, isConfirming: true }, NOW, { deadlineMs: HOUR }), 'newUnavailable');
    assert.equal(stateOf(facts, NOW, { deadlineMs: HOUR }), 'failed');
    confirmed.status = 'True';
    assert.equal(situation(pod), 'newAvailable');
  });

  test('that has reverted has failed', () => {
    const pod = bearing('new');
    pod.status?.conditions?.push({ type: REVERTED_CONDITION, status: 'True', reason: 'LinkLost' });
    assert.equal(podFailureReason(pod), 'RevertedByHost');
  });
});
