/** Decisions about DaemonJobs: one host, the job as a whole, results, names, and what a host does after the end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextAction } from '../../../agent/decisions/pods/pod-next-action.js';
import { jobSpec } from '../../../coordinator/cli/commands/job-command.js';
import { type HostView, hostStep } from '../../../coordinator/decisions/daemonjobs/daemonjob-host.js';
import { attemptName, resultName } from '../../../coordinator/decisions/daemonjobs/daemonjob-names.js';
import { daemonJobPod, isOwnedBy } from '../../../coordinator/decisions/daemonjobs/daemonjob-pod.js';
import {
  countsResults,
  type HostOutcome,
  lastBytes,
} from '../../../coordinator/decisions/daemonjobs/daemonjob-result.js';
import { daemonJobStep } from '../../../coordinator/decisions/daemonjobs/daemonjob-step.js';
import {
  compileLockOverride,
  type HostStart,
  hostStart,
} from '../../../coordinator/decisions/daemonjobs/host-start.js';
import { daemonJobKind } from '../../../coordinator/kinds/index.js';
import { STOP_CONFIRMED_CONDITION } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJob,
  type DaemonJobSpec,
  ENDED_ANNOTATION,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { viewOf } from '../../harness/pods/pod-views.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const NONE = { Succeeded: 0, Failed: 0, Missed: 0, Active: 0, Assigned: 0, Offline: 0, Ready: 0, Waiting: 0 };

function job(spec: Partial<DaemonJobSpec> = {}): DaemonJob {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } };
  return {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'DaemonJob',
    metadata: { name: 'work', namespace: 'default', uid: 'job', generation: 1 },
    spec: { template, ...spec },
  };
}

function pod(attempt: number, phase?: PodPhase): Pod {
  const model = unboundPod(attempt);
  return { ...model, spec: { ...model.spec, nodeName: 'kiel' }, ...(phase && { status: { phase } }) };
}

/** A Pod that the scheduler has not bound yet. */
function unboundPod(attempt: number, deletionTimestamp?: string): Pod {
  const model = daemonJobPod(job(), 'kiel', attempt);
  const deletion = deletionTimestamp ? { deletionTimestamp, deletionGracePeriodSeconds: 0 } : {};
  return { ...model, metadata: { ...model.metadata, creationTimestamp: toTimestamp(NOW), ...deletion } };
}

const outcome = (changes: Partial<HostOutcome>): HostOutcome => ({
  ...{ nodeName: 'kiel', phase: 'Retrying', run: 1, attempts: 1, failures: 1 },
  ...changes,
});
const end = { kind: 'Closed', reason: 'UntilPassed', message: 'too late' } as const;
const missed = (changes: Partial<HostOutcome>) =>
  outcome({ phase: 'Missed', attempts: 0, failures: 0, ...changes });
const stopped = { kind: 'Stopped', reason: 'DeadlineExceeded', message: 'too long' } as const;

/** A Pod with start rules that was deleted before its host reported a start. `confirmed`: the host has reported its end. */
function deletedBeforeStart(confirmed: boolean): Pod {
  const model = daemonJobPod(job(), 'kiel', 0, { at: toTimestamp(NOW - 60_000) });
  const deletion = { deletionTimestamp: toTimestamp(NOW), deletionGracePeriodSeconds: 0 };
  const conditions = confirmed ? [{ type: STOP_CONFIRMED_CONDITION, status: 'True' as const }] : [];
  return {
    ...model,
    metadata: { ...model.metadata, ...deletion },
    spec: { ...model.spec, nodeName: 'kiel' },
    status: { phase: 'Pending', conditions },
  };
}
/** A start that was due a minute ago and is possible until `before`. */
const startUntil = (before: number) => ({
  start: { at: NOW - 60_000, before, rules: { at: toTimestamp(NOW - 60_000), before: toTimestamp(before) } },
});
const atMostOnce = { backoffLimit: 0 };

/** What differs from an eligible host that is online and has done nothing; its state; what is stored; Pods removed. */
const HOSTS: [what: string, view: Partial<HostView>, state: string, stored?: string, removed?: number][] = [
  ['may start', {}, 'Ready'],
  ['is not eligible', { isEligible: false }, 'NotEligible'],
  ['is offline', { isOnline: false }, 'Offline'],
  ['is held', { isHeld: true }, 'Waiting'],
  ['runs', { pods: [pod(0, 'Running')] }, 'Active'],
  ['runs and is not eligible any more', { pods: [pod(0)], isEligible: false }, 'Active'],
  ['runs offline', { pods: [pod(0, 'Running')], isOnline: false }, 'Offline'],
  ['has succeeded', { pods: [pod(0, 'Succeeded')] }, 'Succeeded', 'Succeeded 1/0'],
  ['has failed once', { pods: [pod(0, 'Failed')] }, 'Waiting', 'Retrying 1/1'],
  ['has failed too often', { pods: [pod(0, 'Failed')], spec: { backoffLimit: 0 } }, 'Failed', 'Failed 1/1'],
  ['has a counted failure', { pods: [pod(0, 'Failed')], result: outcome({}) }, 'Ready'],
  ['starts after the end', { end }, 'Missed', 'Missed 0/0'],
  ['failed before the end', { end, result: outcome({}) }, 'Failed', 'Failed 1/1'],
  ['runs after the end', { end, pods: [pod(0, 'Running')] }, 'Active'],
  ['runs after the deadline', { end: stopped, pods: [pod(0, 'Running')] }, 'Active', undefined, 1],
  [
    'is offline at the end, and has started',
    { end, pods: [pod(0, 'Running')], isOnline: false },
    'Missed',
    'Missed 0/0',
  ],
  [
    'is offline at the end, and has not started',
    { end, pods: [pod(0)], isOnline: false },
    'Missed',
    'Missed 0/0',
    1,
  ],
  [
    'was missed and returns with success',
    { end, pods: [pod(0, 'Succeeded')], result: outcome({ phase: 'Missed', attempts: 0, failures: 0 }) },
    'Succeeded',
    'Succeeded 1/0',
  ],
  ['succeeded, and a new run starts', { run: 2, result: outcome({ phase: 'Succeeded' }) }, 'Succeeded'],
  [
    'was missed in the last run, and the next one ends',
    { run: 2, end, result: missed({}) },
    'Missed',
    'Missed 0/0',
  ],
  ['was missed in the last run and in this one', { run: 2, end, result: missed({ run: 2 }) }, 'Missed'],
  [
    'was missed, and a Pod of the last run fails',
    { run: 2, end, isEligible: false, pods: [pod(0, 'Failed')], result: missed({ run: 2 }) },
    'Missed',
    'Missed 1/0',
  ],
  [
    'is not eligible, and a Pod of the last run fails',
    { run: 2, isEligible: false, pods: [pod(0, 'Failed')] },
    'Failed',
    'Failed 1/0',
  ],
  [
    'is not eligible any more, and a Pod of the last run failed in this one',
    { run: 2, isEligible: false, result: outcome({ phase: 'Retrying', run: 2, failures: 0 }) },
    'Failed',
    'Failed 1/0',
  ],
  [
    'is not eligible any more, and failed in the last run',
    { run: 2, isEligible: false, result: outcome({ phase: 'Failed' }) },
    'NotEligible',
  ],
  ['waits for a lost label', { isEligible: false, pods: [unboundPod(0)] }, 'Active', undefined, 1],
  ['waits for room', { pods: [unboundPod(0)] }, 'Active'],
  ['waits for room before its deadline', { pods: [unboundPod(0)], ...startUntil(NOW + 1) }, 'Active'],
  ['waits for room at its deadline', { pods: [unboundPod(0)], ...startUntil(NOW) }, 'Active', undefined, 1],
  ['has a node at its deadline', { pods: [pod(0)], ...startUntil(NOW) }, 'Active'],
  [
    'waits for room with a second attempt, which has no deadline',
    { pods: [unboundPod(1)], result: outcome({}), ...startUntil(NOW) },
    'Active',
  ],
  [
    'had no room until its deadline',
    { pods: [unboundPod(0, toTimestamp(NOW))], ...startUntil(NOW) },
    'Missed',
    'Missed 0/0',
  ],
  ['waits for room after the end', { end, pods: [unboundPod(0)] }, 'Active', undefined, 1],
  ['has a Pod that is deleted before it has a node', { pods: [unboundPod(0, toTimestamp(NOW))] }, 'Waiting'],
  ['has withdrawn its Pod before the start', { pods: [deletedBeforeStart(true)] }, 'Waiting'],
  [
    'has withdrawn its Pod before the start, with AtMostOnce',
    { pods: [deletedBeforeStart(true)], spec: atMostOnce },
    'Waiting',
  ],
  [
    'may have run a Pod that a user deleted without grace',
    { pods: [deletedBeforeStart(false)] },
    'Waiting',
    'Retrying 1/1',
  ],
  [
    'may have run a Pod that a user deleted without grace, with AtMostOnce',
    { pods: [deletedBeforeStart(false)], spec: atMostOnce },
    'Failed',
    'Failed 1/1',
  ],
  [
    'is offline, and may have run a Pod that a user deleted without grace, with AtMostOnce',
    { pods: [deletedBeforeStart(false)], spec: atMostOnce, isOnline: false },
    'Failed',
    'Failed 1/1',
  ],
  ['failed, and a new run starts', { run: 2, result: outcome({ phase: 'Failed', failures: 7 }) }, 'Ready'],
];

describe('a host of a DaemonJob', () => {
  for (const [what, changes, state, stored, removed = 0] of HOSTS) {
    test(`that ${what} is ${state}`, () => {
      const view: HostView = {
        ...{ nodeName: 'kiel', spec: {}, run: 1, isEligible: true, isOnline: true, isHeld: false },
        ...{ pods: [], result: undefined, end: undefined, ...changes },
      };
      const step = hostStep(view, NOW);
      const { phase, attempts, failures } = step.outcome ?? {};
      assert.equal(step.state.kind, state);
      assert.equal(step.outcome && `${phase} ${attempts}/${failures}`, stored);
      assert.equal(step.remove.length, removed);
    });
  }
});

/** A Pod whose host has reported that it waits for an update lock or a window. */
function waitingPod(): Pod {
  const model = daemonJobPod(job(), 'kiel', 0, { maxLockSeconds: 600 });
  const condition = { type: 'PodReadyToStartContainers', status: 'False' as const, reason: 'UpdateLocked' };
  return { ...model, spec: { ...model.spec, nodeName: 'kiel' }, status: { conditions: [condition] } };
}

for (const [what, changes, expected] of [
  ['has no rules any more', {}, 1],
  ['has no rules any more, and the host is offline', { isOnline: false }, 1],
  ['has the same rules', { start: { rules: { maxLockSeconds: 600 } } }, 0],
  ['has another limit', { start: { rules: { maxLockSeconds: 60 } } }, 1],
  ['is held, for example because its policy is deleted', { isHeld: true, isOnline: false }, 0],
  ['is of a host that is not eligible any more', { isEligible: false, isOnline: false }, 0],
  ['is of a closed run', { end, isOnline: false }, 0],
] as const) {
  test(`a waiting Pod that ${what} gets other rules: ${expected}`, () => {
    const view: HostView = {
      ...{ nodeName: 'kiel', spec: {}, run: 1, isEligible: true, isOnline: true, isHeld: false },
      ...{ pods: [waitingPod()], result: undefined, end: undefined, ...changes },
    };
    assert.equal(hostStep(view, NOW).reschedule.length, expected);
  });
}

test('the list of overridden hosts is read once for all hosts', () => {
  let reads = 0;
  const annotations = {
    get 'fleet.everynode.dev/override-locks'() {
      reads += 1;
      return 'kiel, bonn';
    },
    'fleet.everynode.dev/override-locks-by': 'ann: recall',
  };
  const { metadata } = job();
  const forcedBy = compileLockOverride({ ...job(), metadata: { ...metadata, annotations } });
  assert.deepEqual(['kiel', 'bonn', 'ulm'].map(forcedBy), ['ann: recall', 'ann: recall', undefined]);
  assert.equal(reads, 1);
});

test('a host whose Pod waits for room is checked again at its deadline', () => {
  const view: HostView = {
    ...{ nodeName: 'kiel', spec: {}, run: 1, isEligible: true, isOnline: true, isHeld: false },
    ...{ pods: [unboundPod(0)], result: undefined, end: undefined, ...startUntil(NOW + 5_000) },
  };
  assert.deepEqual(hostStep(view, NOW).state, { kind: 'Active', forMs: 5_000 });
});

for (const [what, completionTime, expected] of [
  ['is right', toTimestamp(NOW), 10_000],
  ['is a year ahead', '2027-01-01T12:00:00Z', 10_000],
  ['is a year behind', '2025-01-01T12:00:00Z', undefined],
] as const) {
  test(`a host that failed waits for its back-off and no longer if its clock ${what}`, () => {
    const view: HostView = {
      ...{ nodeName: 'kiel', spec: {}, run: 1, isEligible: true, isOnline: true, isHeld: false },
      ...{ pods: [], result: outcome({ completionTime }), end: undefined },
    };
    const { state } = hostStep(view, NOW);
    assert.equal(state.kind === 'Waiting' ? state.forMs : undefined, expected);
  });
}

test('a success that arrives after its Pod was counted as deleted replaces the failure', () => {
  const late = pod(0, 'Succeeded');
  const view: HostView = {
    ...{ nodeName: 'kiel', spec: {}, run: 1, isEligible: true, isOnline: true, isHeld: false },
    ...{ pods: [late], result: outcome({ attempts: 1, reason: 'PodDeleted' }), end: undefined },
  };
  const { state, outcome: stored } = hostStep(view, NOW);
  assert.deepEqual([state.kind, stored?.phase, stored?.attempts], ['Succeeded', 'Succeeded', 1]);
});

for (const [waitedMs, expected] of [
  [0, 10_000],
  [9_999, 1],
  [10_000, undefined],
] as const) {
  test(`after a clock that was set back a host waits for the rest of its back-off: ${expected ?? 'none'}`, () => {
    const view: HostView = {
      ...{ nodeName: 'kiel', spec: {}, run: 1, isEligible: true, isOnline: true, isHeld: false, waitedMs },
      ...{ pods: [], result: outcome({ completionTime: '2026-01-01T13:00:00Z' }), end: undefined },
    };
    const { state } = hostStep(view, NOW);
    assert.equal(state.kind === 'Waiting' ? state.forMs : undefined, expected);
  });
}

test('a job with a stored deadline that is later than any date is decided', () => {
  const step = daemonJobStep(
    job({ activeDeadlineSeconds: 9e15, ttlSecondsAfterFinished: 9e15 }),
    NONE,
    0,
    NOW,
  );
  assert.equal(step.status.conditions?.[0]?.type, 'Complete');
});

/** Spec, counts, free slots, terminal condition and its reason. */
const JOBS: [what: string, spec: Partial<DaemonJobSpec>, counts: object, slots: number, end?: string][] = [
  ['starts all hosts', {}, { Ready: 5 }, 5],
  ['rounds a percentage up', { parallelism: '50%' }, { Ready: 4, Active: 1 }, 2],
  ['does not count offline hosts', { parallelism: 1 }, { Ready: 4, Offline: 3 }, 1],
  ['is suspended', { suspend: true }, { Waiting: 2 }, 0],
  ['completes', {}, { Succeeded: 2 }, 2, 'Complete HostsSucceeded'],
  ['has no hosts', {}, {}, 0, 'Complete HostsSucceeded'],
  ['waits for late hosts', { until: '2026-01-01T13:00:00Z' }, { Succeeded: 2 }, 2],
  ['is past until', { until: '2026-01-01T11:00:00Z' }, { Succeeded: 2 }, 0, 'Complete HostsSucceeded'],
  ['has failed hosts', {}, { Succeeded: 2, Failed: 1 }, 3, 'Failed FailedHosts'],
  ['exceeds its budget', { maxFailed: '10%' }, { Failed: 2, Ready: 8 }, 0, undefined],
  ['ends over its budget', { maxFailed: 0 }, { Failed: 1, Missed: 8 }, 0, 'Failed MaxFailedHostsExceeded'],
];

describe('a DaemonJob', () => {
  for (const [what, spec, counts, slots, ended] of JOBS) {
    test(`that ${what} has ${slots} free slots`, () => {
      const step = daemonJobStep(job(spec), { ...NONE, ...counts }, 0, NOW);
      const final = step.status.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed');
      assert.equal(step.slots, slots);
      assert.equal(final && `${final.type} ${final.reason}`, ended);
    });
  }
});

test('a rerun after the deadline of the first run starts, and keeps the failure until it has ended', () => {
  const late = { startAt: '2026-01-01T10:00:00Z', startingDeadlineSeconds: 60 };
  const stateOf = (run: number) =>
    hostStep(
      {
        ...{ nodeName: 'kiel', spec: {}, run, isEligible: true, isOnline: true, isHeld: false, pods: [] },
        ...{ result: outcome({ phase: 'Failed', run: 1 }), end: undefined },
        start: hostStart(job({ ...late, run }), {}) as HostStart,
      },
      NOW,
    );
  assert.deepEqual([stateOf(1).state.kind, stateOf(2).state.kind], ['Failed', 'Ready']);
  assert.equal(stateOf(2).outcome, undefined);
});

test('a job has not started before its start time, but a rerun starts at once', () => {
  const startTimeOf = (run: number) => {
    const ahead = job({ startAt: '2026-01-01T13:00:00Z', run });
    return daemonJobStep(ahead, { ...NONE, Ready: 2 }, 0, NOW).status.startTime;
  };
  assert.deepEqual([startTimeOf(1), startTimeOf(2)], [undefined, toTimestamp(NOW)]);
});

test('names of Pods and results are unique and at most 253 characters long', () => {
  assert.equal(attemptName('work', 'kiel.example', 3), 'work.kiel.example.3');
  const long = [`${'a'.repeat(250)}-1`, `${'a'.repeat(250)}-2`].map((node) => resultName('work', node));
  assert.notEqual(long[0], long[1]);
  assert.ok(long.every((name) => name.length < 240));
});

test('a message keeps its last 320 bytes and no half character', () => {
  const text = lastBytes(`${'x'.repeat(500)}${'ü'.repeat(159)}€`);
  assert.equal(text, `${'ü'.repeat(158)}€`);
});

test('a host starts nothing of a Pod whose end is counted, also without its containers', () => {
  const view = viewOf({ containers: [] });
  const ofJob = daemonJobPod(job(), 'kiel', 0);
  const metadata = { ...view.pod.metadata, ownerReferences: ofJob.metadata.ownerReferences ?? [] };
  const counted = { ...metadata, annotations: { [ENDED_ANNOTATION]: 'Succeeded' } };
  assert.notEqual(nextAction({ ...view, pod: { ...view.pod, metadata } }).kind, 'wait');
  assert.equal(nextAction({ ...view, pod: { ...view.pod, metadata: counted } }).kind, 'wait');
});

test('a template cannot report the end of its Pods', () => {
  const broken = job();
  daemonJobKind.setDefaults(broken);
  assert.deepEqual(daemonJobKind.validate(broken), []);
  broken.spec.template.metadata = { annotations: { [ENDED_ANNOTATION]: 'Succeeded' } };
  const errors = daemonJobKind.validate(broken).map(({ field, message }) => `${field}: ${message}`);
  const field = `spec.template.metadata.annotations[${ENDED_ANNOTATION}]`;
  assert.equal(errors.length, 1);
  assert.ok(errors[0]?.startsWith(`${field}: Forbidden`), errors[0]);
});

/** What the Pod has instead of the job's own values; whether the job controls it. */
const OWNED: [what: string, changes: { namespace?: string; kind?: string; uid?: string }, owned: boolean][] =
  [
    ['its own Pod', {}, true],
    ['a Pod of another namespace', { namespace: 'other' }, false],
    ['a Pod of another kind of owner', { kind: 'Job' }, false],
    ['a Pod of an earlier job', { uid: 'earlier' }, false],
  ];
for (const [what, { namespace = 'default', kind = 'DaemonJob', uid = 'job' }, owned] of OWNED) {
  test(`a DaemonJob ${owned ? 'controls' : 'does not control'} ${what}`, () => {
    const { metadata, ...rest } = pod(0);
    const ownerReferences = metadata.ownerReferences?.map((one) => ({ ...one, kind, uid })) ?? [];
    assert.equal(isOwnedBy({ ...rest, metadata: { ...metadata, namespace, ownerReferences } }, job()), owned);
  });
}

test('everynode job run makes a spec of its flags', () => {
  const flags = { wait: true, retries: '2', deadline: '5m', ttl: '1d', selector: 'site=kiel,arch=arm64' };
  const spec = jobSpec('busybox', ['true'], { ...flags, parallelism: '10' });
  assert.deepEqual(spec.template.spec.nodeSelector, { site: 'kiel', arch: 'arm64' });
  assert.deepEqual([spec.parallelism, spec.activeDeadlineSeconds, spec.backoffLimit], [10, 300, 2]);
  assert.throws(() => jobSpec('busybox', [], { ...flags, selector: 'site' }), /--selector: must be labels/);
});

describe('the status of a finished job that a killed coordinator left', () => {
  const status = { run: 2, hosts: 3, succeeded: 1, failed: 1, missed: 1 };
  const succeeded = { phase: 'Succeeded', run: 1 } as const;
  const failed = { phase: 'Failed', run: 2 } as const;
  const missedIt = { phase: 'Missed', run: 2 } as const;
  const cases = [
    ['counts each result once', [succeeded, failed, missedIt], true],
    ['counts no failure of an earlier run', [succeeded, failed, missedIt, { phase: 'Failed', run: 1 }], true],
    ['lacks a result that was stored', [succeeded, failed, missedIt, failed], false],
    ['has a result that was deleted', [succeeded, failed], false],
    ['has another end of a host', [succeeded, succeeded, failed], false],
    ['has a host that is not concluded', [succeeded, failed, { phase: 'Retrying', run: 2 }], false],
  ] as const;
  for (const [what, results, expected] of cases)
    test(what, () => assert.equal(countsResults(status, results), expected));
});
