/** Decisions of the Job controller, after upstream's tables (`pkg/controller/job/*_test.go`). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exceedsRestarts, retryDelayMs } from '../../../coordinator/decisions/jobs/job-limits.js';
import { jobPod } from '../../../coordinator/decisions/jobs/job-pod.js';
import { type JobStep, jobStep } from '../../../coordinator/decisions/jobs/job-step.js';
import { failureVerdict } from '../../../coordinator/decisions/jobs/pod-failure-policy.js';
import { IndexSet, parseIndexes } from '../../../shared/kube/jobs/index-set.js';
import {
  COMPLETION_INDEX,
  INDEX_FAILURE_COUNT,
  JOB_TRACKING,
  type Job,
  type JobSpec,
  type JobStatus,
  type PodFailurePolicyRule,
} from '../../../shared/kube/jobs/job-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const START = toTimestamp(NOW - 60_000);

function job(spec: Partial<JobSpec> = {}, status: JobStatus = { startTime: START }): Job {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } };
  const metadata = { name: 'work', namespace: 'default', uid: 'job' };
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata, status },
    spec: { parallelism: 1, completions: 1, backoffLimit: 6, template, ...spec },
  };
}

interface PodShape {
  index?: number;
  failures?: number;
  tracked?: false;
  deleted?: true;
  status?: PodStatus;
}

/** A Pod that ended an hour ago, so that no back-off is left. */
function pod(uid: string, phase: PodStatus['phase'], shape: PodShape = {}): Pod {
  const { index, failures, tracked, deleted, status } = shape;
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name: uid, namespace: 'default', uid, creationTimestamp: toTimestamp(NOW - 3_600_000) },
      annotations: {
        ...(index !== undefined && { [COMPLETION_INDEX]: String(index) }),
        ...(failures !== undefined && { [INDEX_FAILURE_COUNT]: String(failures) }),
      },
      ...(tracked !== false && { finalizers: [JOB_TRACKING] }),
      ...(deleted && { deletionTimestamp: toTimestamp(NOW), deletionGracePeriodSeconds: 30 }),
    },
    spec: { containers: [] },
    status: { phase, ...status },
  };
}

function ended(code: number): PodStatus {
  const state = { terminated: { exitCode: code } };
  return {
    phase: 'Failed',
    containerStatuses: [{ name: 'work', ready: false, restartCount: 0, image: '', imageID: '', state }],
  };
}

/** What a step does, in short. */
function summary({ status, create, remove, discard, release }: JobStep) {
  const conditions = (status.conditions ?? []).map(
    ({ type, status: value, reason }) => `${type}=${value}:${reason}`,
  );
  const counts = { create: create.length, remove: remove.length, discard: discard.length };
  return { conditions, ...counts, release: release.length };
}

describe('steps of a Job', () => {
  const none = { conditions: [], create: 0, remove: 0, discard: 0, release: 0 };
  const rows: [name: string, spec: Partial<JobSpec>, status: JobStatus, pods: Pod[], expected: object][] = [
    ['a new Job creates its Pods', { parallelism: 2, completions: 5 }, {}, [], { create: 2 }],
    ['no more Pods than completions', { parallelism: 5, completions: 2 }, {}, [], { create: 2 }],
    [
      'a work queue creates by parallelism',
      { parallelism: 3, completions: undefined },
      {},
      [],
      { create: 3 },
    ],
    [
      'a work queue with a success creates no more',
      { parallelism: 3, completions: undefined },
      { startTime: START },
      [pod('a', 'Succeeded'), pod('b', 'Running')],
      { release: 1 },
    ],
    [
      'too much parallelism deletes Pods',
      { parallelism: 1, completions: 5 },
      {},
      [pod('a', 'Running'), pod('b', 'Pending')],
      { discard: 1 },
    ],
    [
      'suspension deletes Pods',
      { suspend: true },
      { startTime: START },
      [pod('a', 'Running')],
      { discard: 1, conditions: ['Suspended=True:JobSuspended'] },
    ],
    [
      'the last success is counted before the Job completes',
      {},
      { startTime: START },
      [pod('a', 'Succeeded')],
      { release: 1, conditions: ['SuccessCriteriaMet=True:CompletionsReached'] },
    ],
    [
      'the Job completes once all are counted',
      {},
      { startTime: START, uncountedTerminatedPods: { succeeded: ['a'] } },
      [pod('a', 'Succeeded', { tracked: false })],
      { conditions: ['SuccessCriteriaMet=True:CompletionsReached', 'Complete=True:CompletionsReached'] },
    ],
    [
      'a failure above the limit deletes the other Pods and waits for them',
      { backoffLimit: 0, parallelism: 2, completions: 2 },
      { startTime: START },
      [pod('a', 'Failed'), pod('b', 'Running')],
      { remove: 1, release: 2, conditions: ['FailureTarget=True:BackoffLimitExceeded'] },
    ],
    [
      'the deadline fails the Job',
      { activeDeadlineSeconds: 60 },
      { startTime: START },
      [],
      { conditions: ['FailureTarget=True:DeadlineExceeded', 'Failed=True:DeadlineExceeded'] },
    ],
    [
      'the deadline does not count while the Job is suspended',
      { activeDeadlineSeconds: 60, suspend: true },
      { startTime: START },
      [],
      { conditions: ['Suspended=True:JobSuspended'] },
    ],
    [
      'a Pod that is being deleted is replaced at once by default',
      {},
      { startTime: START },
      [
        pod('a', 'Running', {
          deleted: true,
          status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: START }] },
        }),
      ],
      { create: 1, release: 1 },
    ],
    [
      'a resumed Job does not wait for the Pods that it has discarded',
      { parallelism: 2, completions: 2 },
      { startTime: START },
      [pod('a', 'Running', { deleted: true, tracked: false })],
      { create: 2 },
    ],
    [
      'podReplacementPolicy Failed waits for the end of the Pod',
      { podReplacementPolicy: 'Failed' },
      { startTime: START },
      [pod('a', 'Running', { deleted: true })],
      {},
    ],
    [
      'an indexed Job creates the first missing indexes',
      { completionMode: 'Indexed', completions: 4, parallelism: 2 },
      { startTime: START, completedIndexes: '0,2' },
      [],
      { create: 2 },
    ],
    [
      'a second Pod of an index is deleted',
      { completionMode: 'Indexed', completions: 4, parallelism: 4 },
      { startTime: START },
      [pod('a', 'Running', { index: 1 }), pod('b', 'Running', { index: 1 })],
      { discard: 1 },
    ],
    [
      'the last failed index fails the Job',
      { completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 0, backoffLimit: 99 },
      { startTime: START },
      [pod('a', 'Failed', { index: 0, failures: 0 })],
      { release: 1, conditions: ['FailureTarget=True:FailedIndexes'] },
    ],
    [
      'the failed Pod of an index stays until it is replaced',
      { completionMode: 'Indexed', completions: 1, backoffLimitPerIndex: 1, backoffLimit: 99 },
      { startTime: START },
      [pod('a', 'Failed', { index: 0, failures: 0 })],
      { create: 1 },
    ],
    [
      'a success policy ends the other Pods',
      {
        completionMode: 'Indexed',
        completions: 3,
        parallelism: 3,
        successPolicy: { rules: [{ succeededIndexes: '0' }] },
      },
      { startTime: START },
      [pod('a', 'Succeeded', { index: 0 }), pod('b', 'Running', { index: 1 })],
      { remove: 1, release: 2, conditions: ['SuccessCriteriaMet=True:SuccessPolicy'] },
    ],
    [
      'a success policy with an empty list of indexes never matches',
      {
        ...{ completionMode: 'Indexed', completions: 3 },
        successPolicy: { rules: [{ succeededIndexes: '' }, { succeededIndexes: '', succeededCount: 0 }] },
      },
      { startTime: START, completedIndexes: '1' },
      [],
      { create: 1 },
    ],
    [
      'a success policy matches nothing before the first success',
      {
        ...{ completionMode: 'Indexed', completions: 3 },
        successPolicy: { rules: [{ succeededCount: 0 }] },
      },
      { startTime: START },
      [],
      { create: 1 },
    ],
    [
      'a success policy with a count needs only as many of its indexes',
      {
        ...{ completionMode: 'Indexed', completions: 9 },
        successPolicy: { rules: [{ succeededIndexes: '0-5', succeededCount: 2 }] },
      },
      { startTime: START, completedIndexes: '1,5,7' },
      [],
      {
        conditions: ['SuccessCriteriaMet=True:SuccessPolicy', 'Complete=True:SuccessPolicy'],
      },
    ],
  ];
  for (const [name, spec, status, pods, expected] of rows) {
    test(name, () => {
      assert.deepEqual(summary(jobStep(job(spec, status), pods, NOW)), { ...none, ...expected });
    });
  }

  test('a second look at a counted Pod counts nothing again', () => {
    const first = jobStep(job({ completions: 2 }), [pod('a', 'Succeeded')], NOW);
    const again = jobStep(job({ completions: 2 }, first.status), [pod('a', 'Succeeded')], NOW);
    assert.deepEqual(again.status.uncountedTerminatedPods, { succeeded: ['a'] });
    const later = jobStep(job({ completions: 2 }, first.status), [], NOW);
    assert.deepEqual([later.status.succeeded, later.status.uncountedTerminatedPods], [1, {}]);
    assert.equal(jobStep(job({ completions: 2 }, later.status), [], NOW).status.succeeded, 1);
  });

  test('a resumed Job starts its deadline again', () => {
    const suspended: JobStatus = { startTime: START, conditions: [{ type: 'Suspended', status: 'True' }] };
    const step = jobStep(job({}, suspended), [], NOW);
    assert.equal(step.status.startTime, toTimestamp(NOW));
    assert.deepEqual(step.events, [{ type: 'Normal', reason: 'Resumed', message: 'Job resumed' }]);
  });

  test('a finished Job is deleted when its time to live has passed', () => {
    const at = toTimestamp(NOW - 10_000);
    const conditions = [{ type: 'Complete', status: 'True' as const, lastTransitionTime: at }];
    assert.equal(
      jobStep(job({ ttlSecondsAfterFinished: 20 }, { conditions }), [], NOW).requeueAfterMs,
      10_000,
    );
    assert.equal(jobStep(job({ ttlSecondsAfterFinished: 10 }, { conditions }), [], NOW).isExpired, true);
    assert.equal(jobStep(job({}, { conditions }), [], NOW).isExpired, undefined);
  });

  test('a Pod waits for the back-off of the last failure', () => {
    const status = {
      conditions: [{ type: 'Ready', status: 'False' as const, lastTransitionTime: toTimestamp(NOW - 4_000) }],
    };
    const step = jobStep(job(), [pod('a', 'Failed', { status })], NOW);
    assert.deepEqual([step.create.length, step.backoffMs], [0, 6_000]);
  });
});

test('the back-off doubles from 10 s up to 10 min', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 6, 7, 1_000].map(retryDelayMs),
    [0, 10_000, 20_000, 40_000, 320_000, 600_000, 600_000],
  );
});

test('restarts of containers count with restartPolicy OnFailure', () => {
  const restarted = (restartCount: number): Pod =>
    pod('a', 'Running', {
      status: { containerStatuses: [{ name: 'work', ready: true, restartCount, image: '', imageID: '' }] },
    });
  const rows: [restarts: number, limit: number, expected: boolean][] = [
    [0, 0, false],
    [1, 0, true],
    [1, 2, false],
    [2, 2, true],
  ];
  for (const [restarts, limit, expected] of rows)
    assert.equal(exceedsRestarts([restarted(restarts)], limit), expected, `${restarts} of ${limit}`);
});

describe('podFailurePolicy', () => {
  const exits = (operator: string, ...values: number[]) => ({ operator, values });
  const rows: [name: string, rules: PodFailurePolicyRule[], status: PodStatus, expected: object][] = [
    ['no rule', [], ended(1), { action: 'count' }],
    ['In', [{ action: 'Ignore', onExitCodes: exits('In', 1, 2) }], ended(2), { action: 'ignore' }],
    ['NotIn', [{ action: 'FailIndex', onExitCodes: exits('NotIn', 1) }], ended(2), { action: 'failIndex' }],
    [
      'NotIn never matches success',
      [{ action: 'Ignore', onExitCodes: exits('NotIn', 1) }],
      ended(0),
      { action: 'count' },
    ],
    [
      'another container',
      [{ action: 'Ignore', onExitCodes: { ...exits('In', 1), containerName: 'other' } }],
      ended(1),
      { action: 'count' },
    ],
    [
      'the first rule that matches decides',
      [
        { action: 'Count', onExitCodes: exits('In', 5) },
        { action: 'FailJob', onExitCodes: exits('NotIn', 7) },
      ],
      ended(5),
      { action: 'count' },
    ],
    [
      'FailJob names container, code and rule',
      [{ action: 'FailJob', onExitCodes: exits('In', 42) }],
      ended(42),
      {
        action: 'failJob',
        message: 'Container work for pod default/a failed with exit code 42 matching FailJob rule at index 0',
      },
    ],
    [
      'a condition of the Pod',
      [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
      { phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      {
        action: 'failJob',
        message: 'Pod default/a has condition DisruptionTarget matching FailJob rule at index 0',
      },
    ],
  ];
  for (const [name, rules, status, expected] of rows) {
    test(name, () => assert.deepEqual(failureVerdict(rules, pod('a', 'Failed', { status })), expected));
  }
});

test('texts of indexes', () => {
  const rows: [text: string, indexes: number[]][] = [
    ['', []],
    ['0', [0]],
    ['0,1', [0, 1]],
    ['0-2,4', [0, 1, 2, 4]],
    ['1,3,4,6-8', [1, 3, 4, 6, 7, 8]],
  ];
  for (const [text, indexes] of rows) {
    assert.equal(IndexSet.of(indexes).toString(), text);
    assert.deepEqual([...IndexSet.parse(text, 10)], indexes);
    assert.deepEqual(parseIndexes(text, 10), { total: indexes.length });
  }
  for (const wrong of ['x', '3-1', '1-2-3', '10', '2,1', '1,'])
    assert.ok('problem' in parseIndexes(wrong, 10), wrong);
});

test('indexes are added, found, shared and missing in every order', () => {
  const rows: [before: string, index: number, after: string][] = [
    ['', 3, '3'],
    ['3', 3, '3'],
    ['3', 4, '3,4'],
    ['3', 2, '2,3'],
    ['0,2', 1, '0-2'],
    ['0-2,6', 4, '0-2,4,6'],
    ['5', 0, '0,5'],
  ];
  for (const [before, index, after] of rows) {
    const set = IndexSet.parse(before, 10);
    set.add(index);
    assert.equal(set.toString(), after, `${before} and ${index}`);
    assert.ok(set.has(index));
    const missing = [...set.missingBelow(8)];
    assert.deepEqual(
      [...set, ...missing].sort((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
    assert.ok(missing.every((one) => !set.has(one)));
  }
  const shared = (a: string, b: string) =>
    IndexSet.parse(a, 10).intersection(IndexSet.parse(b, 10)).toString();
  assert.equal(shared('0-4,7-9', '3-7,9'), '3,4,7,9');
  assert.equal(shared('0-9', '2,4-6'), '2,4-6');
  assert.equal(shared('', '1'), '');
  assert.equal(IndexSet.parse('4-9,1-5,3', 20).toString(), '1-9', 'a text in no order');
});

test('a smaller number of completions drops the completed indexes above it', () => {
  const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
  const of = (completedIndexes: string) =>
    jobStep(job(spec, { startTime: START, completedIndexes }), [], NOW).status.completedIndexes;
  assert.deepEqual([of('0,5-7'), of('5-7')], ['0', undefined]);
});

test('a Job with the highest number of completions costs neither time nor memory', () => {
  const MAX = 2 ** 31 - 1;
  const spec = { completionMode: 'Indexed', completions: MAX, parallelism: 3 };
  const all = { rules: [{ succeededIndexes: `0-${MAX - 1}` }] };
  const status = { startTime: START, completedIndexes: '0-5,7' };
  const indexes = (step: JobStep) => step.create.map(({ index }) => index);
  assert.deepEqual(indexes(jobStep(job({ ...spec, successPolicy: all }, status), [], NOW)), [6, 8, 9]);
  const perIndex = { ...spec, backoffLimitPerIndex: 1, backoffLimit: MAX, maxFailedIndexes: 1 };
  assert.deepEqual(indexes(jobStep(job(perIndex, { ...status, failedIndexes: '6' }), [], NOW)), [8, 9, 10]);
  const done = { startTime: START, completedIndexes: `0-${MAX - 1}` };
  const end = jobStep(job(spec, done), [], NOW);
  assert.deepEqual([end.status.succeeded, end.status.completedIndexes], [MAX, `0-${MAX - 1}`]);
  assert.equal(end.status.conditions?.at(-1)?.type, 'Complete');
});

test('the Pod of an index has its index as hostname, annotation, label and variable', () => {
  const made = jobPod(job({ completionMode: 'Indexed', completions: 2 }), {
    index: 1,
    failures: { counted: 2, ignored: 0 },
  });
  assert.equal(made.metadata.generateName, 'work-1-');
  assert.equal(made.spec.hostname, 'work-1');
  assert.deepEqual(made.metadata.annotations, { [COMPLETION_INDEX]: '1', [INDEX_FAILURE_COUNT]: '2' });
  assert.deepEqual(made.metadata.labels, { [COMPLETION_INDEX]: '1' });
  assert.equal(made.spec.containers[0]?.env?.[0]?.name, 'JOB_COMPLETION_INDEX');
});
