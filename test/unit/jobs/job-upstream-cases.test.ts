/**
 * Upstream's cases of one sync of a Job (`pkg/controller/job/job_controller_test.go` TestControllerSyncJob,
 * TestTrackJobStatusAndRemoveFinalizers, TestGetNewFinishedPods). Upstream removes finalizers and stores the counters in
 * the same sync; here the counters are those of the second step.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JobStep, jobStep } from '../../../coordinator/decisions/jobs/job-step.js';
import {
  COMPLETION_INDEX,
  JOB_TRACKING,
  type Job,
  type JobSpec,
  type JobStatus,
} from '../../../shared/kube/jobs/job-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodPhase } from '../../../shared/kube/pods/pod-types.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const START = toTimestamp(NOW - 60_000);
const AN_HOUR_AGO = toTimestamp(NOW - 3_600_000);

interface Pods {
  pending?: number;
  active?: number;
  /** Of the active Pods. */
  ready?: number;
  succeeded?: number;
  failed?: number;
  terminating?: number;
  /** Text `INDEX PHASE`. */
  indexed?: string[];
}

interface Expected {
  created?: number;
  indexes?: number[];
  deleted?: number;
  /** Pods whose finalizer is removed. */
  patched?: number;
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  conditions?: string[];
}

function makePod(name: string, phase: PodPhase, index?: string): Pod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', spec: { containers: [] } },
    metadata: {
      ...{ name, uid: name, namespace: 'default', creationTimestamp: AN_HOUR_AGO },
      ...(index !== undefined && { annotations: { [COMPLETION_INDEX]: index } }),
      finalizers: [JOB_TRACKING],
    },
    status: { phase },
  };
}

function makePods(shape: Pods): Pod[] {
  const several = (count: number | undefined, prefix: string, phase: PodPhase) =>
    Array.from({ length: count ?? 0 }, (_, nth) => makePod(`${prefix}${nth}`, phase));
  const active = several(shape.active, 'active', 'Running');
  for (const pod of active.slice(0, shape.ready ?? 0))
    pod.status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const terminating = several(shape.terminating, 'terminating', 'Running');
  for (const { metadata } of terminating) {
    metadata.deletionTimestamp = AN_HOUR_AGO;
    metadata.deletionGracePeriodSeconds = 30;
  }
  const indexed = (shape.indexed ?? []).map((text, nth) => {
    const [index = '', phase] = text.split(' ');
    return makePod(`indexed${nth}`, phase as PodPhase, index);
  });
  return [
    ...several(shape.pending, 'pending', 'Pending'),
    ...active,
    ...several(shape.succeeded, 'succeeded', 'Succeeded'),
    ...several(shape.failed, 'failed', 'Failed'),
    ...terminating,
    ...indexed,
  ];
}

function makeJob(spec: Partial<JobSpec>, status: JobStatus = {}, isDeleting = false): Job {
  const template = { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'work', image: 'work:1' }] } };
  const metadata = { name: 'work', namespace: 'default', uid: 'job' };
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job', status },
    metadata: { ...metadata, ...(isDeleting && { deletionTimestamp: START }) },
    spec: { backoffLimit: 6, template, ...spec },
  };
}

/** Returns the Pods after the writes of a step. */
function written(pods: readonly Pod[], step: JobStep): Pod[] {
  const free = new Set([...step.release, ...step.discard]);
  const deleted = new Set([...step.remove, ...step.discard]);
  return structuredClone([...pods]).map((pod, nth) => {
    const original = pods[nth] as Pod;
    if (free.has(original)) delete pod.metadata.finalizers;
    if (deleted.has(original)) {
      pod.metadata.deletionTimestamp = toTimestamp(NOW);
      pod.metadata.deletionGracePeriodSeconds = 30;
    }
    return pod;
  });
}

function outcome(job: Job, pods: readonly Pod[]): Expected {
  const step = jobStep(job, pods, NOW);
  const released = new Set([...step.release, ...step.discard]);
  const { status } = jobStep({ ...job, status: step.status }, written(pods, step), NOW);
  const indexes = step.create.map(({ index }) => index).filter((index) => index !== undefined);
  return {
    created: step.create.length,
    ...(indexes.length > 0 && { indexes }),
    deleted: step.remove.length + step.discard.length,
    patched: released.size,
    active: (status.active ?? 0) + step.create.length,
    ready: status.ready ?? 0,
    terminating: status.terminating ?? 0,
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    completedIndexes: status.completedIndexes ?? '',
    conditions: (status.conditions ?? []).map(
      ({ type, status: value, reason }) => `${type}=${value}:${reason}`,
    ),
  };
}

const NOTHING: Expected = {
  ...{ created: 0, deleted: 0, patched: 0, active: 0, ready: 0, terminating: 0, succeeded: 0, failed: 0 },
  ...{ completedIndexes: '', conditions: [] },
};

type Row = [name: string, spec: Partial<JobSpec>, pods: Pods, expected: Expected];

function run(rows: Row[], status: JobStatus = {}, isDeleting = false): void {
  for (const [name, spec, pods, expected] of rows) {
    test(name, () =>
      assert.deepEqual(outcome(makeJob(spec, status, isDeleting), makePods(pods)), {
        ...NOTHING,
        ...expected,
      }),
    );
  }
}

const two = { parallelism: 2, completions: 5 };
const queue = { completions: undefined };
const replaceFailed = { podReplacementPolicy: 'Failed' };
const complete = ['SuccessCriteriaMet=True:CompletionsReached', 'Complete=True:CompletionsReached'];
const exceeded = 'FailureTarget=True:BackoffLimitExceeded';

describe('one sync of a Job', () => {
  run([
    ['job start', two, {}, { created: 2, active: 2 }],
    ['WQ job start', { parallelism: 2, ...queue }, {}, { created: 2, active: 2 }],
    ['pending pods', two, { pending: 2 }, { active: 2 }],
    ['correct # of pods', { ...two, parallelism: 3 }, { active: 3, ready: 2 }, { active: 3, ready: 2 }],
    ['WQ job: correct # of pods', { parallelism: 2, ...queue }, { active: 2 }, { active: 2 }],
    [
      'too few active pods',
      two,
      { active: 1, succeeded: 1 },
      { created: 1, active: 2, succeeded: 1, patched: 1 },
    ],
    [
      'WQ job: recreate pods when failed',
      { parallelism: 1, ...queue, ...replaceFailed },
      { active: 1, failed: 1, terminating: 1 },
      { terminating: 1, patched: 1, failed: 1, active: 1 },
    ],
    [
      'WQ job: recreate pods when terminating or failed',
      { parallelism: 1, ...queue, podReplacementPolicy: 'TerminatingOrFailed' },
      { active: 1, failed: 1, terminating: 1 },
      { terminating: 1, patched: 2, failed: 2, active: 1 },
    ],
    [
      'more terminating pods than parallelism',
      { parallelism: 1, completions: 1, ...replaceFailed },
      { active: 2, terminating: 4 },
      { terminating: 5, active: 1, deleted: 1, patched: 1 },
    ],
    [
      'too few active pods with a dynamic job',
      { parallelism: 2, ...queue },
      { active: 1 },
      { created: 1, active: 2 },
    ],
    ['too many active pods', two, { active: 3 }, { deleted: 1, active: 2, patched: 1, terminating: 1 }],
    [
      'count ready pods when too many active pods',
      two,
      { active: 3, ready: 3 },
      { deleted: 1, active: 2, patched: 1, ready: 2, terminating: 1 },
    ],
    [
      'failed + succeed pods: reset backoff delay',
      two,
      { active: 1, succeeded: 1, failed: 1 },
      { created: 1, active: 2, succeeded: 1, failed: 1, patched: 2 },
    ],
    ['new failed pod', two, { active: 1, failed: 1 }, { created: 1, active: 2, failed: 1, patched: 1 }],
    ['job finish', two, { succeeded: 5 }, { succeeded: 5, patched: 5, conditions: complete }],
    [
      'WQ job finishing',
      { parallelism: 2, ...queue },
      { active: 1, succeeded: 1 },
      { active: 1, succeeded: 1, patched: 1 },
    ],
    [
      'WQ job all finished',
      { parallelism: 2, ...queue },
      { succeeded: 2 },
      { succeeded: 2, patched: 2, conditions: complete },
    ],
    [
      'WQ job all finished despite one failure',
      { parallelism: 2, ...queue },
      { succeeded: 1, failed: 1 },
      { succeeded: 1, failed: 1, patched: 2, conditions: complete },
    ],
    [
      'more active pods than parallelism',
      two,
      { active: 10 },
      { deleted: 8, active: 2, patched: 8, terminating: 8 },
    ],
    [
      'more active pods than remaining completions',
      { parallelism: 3, completions: 4 },
      { active: 3, succeeded: 2 },
      { deleted: 1, active: 2, succeeded: 2, patched: 3, terminating: 1 },
    ],
    ['status change', two, { active: 2, succeeded: 2 }, { active: 2, succeeded: 2, patched: 2 }],
    [
      'count ready pods when job fails',
      { parallelism: 2, completions: 3, backoffLimit: 0 },
      { active: 2, ready: 2, failed: 1 },
      { deleted: 2, failed: 3, patched: 3, terminating: 2, conditions: [exceeded] },
    ],
    [
      'suspending a job with satisfied expectations',
      { parallelism: 2, completions: 4, suspend: true },
      { active: 2, ready: 2 },
      { deleted: 2, patched: 2, terminating: 2, conditions: ['Suspended=True:JobSuspended'] },
    ],
    [
      'a failed pod of the 501 that end at once is counted, and no pod is created for one that succeeded',
      { parallelism: 1_000, completions: 1_000 },
      { succeeded: 501 },
      { created: 499, active: 499, succeeded: 500, patched: 500 },
    ],
  ]);
});

describe('one sync of an indexed Job', () => {
  const indexed = { ...two, completionMode: 'Indexed' };
  const three = { parallelism: 2, completions: 3, completionMode: 'Indexed' };
  run([
    ['indexed job start', indexed, {}, { created: 2, active: 2, indexes: [0, 1] }],
    [
      'indexed job completed',
      three,
      { indexed: ['0 Succeeded', '1 Failed', '1 Succeeded', '2 Succeeded'] },
      { succeeded: 3, failed: 1, completedIndexes: '0-2', patched: 4, conditions: complete },
    ],
    [
      'count terminating pods when indexed job fails and PodReplacementPolicy enabled',
      { ...three, backoffLimit: 0 },
      { indexed: ['0 Succeeded', '1 Failed', '2 Running'] },
      {
        ...{ succeeded: 1, failed: 2, completedIndexes: '0', patched: 3, deleted: 1, terminating: 1 },
        conditions: [exceeded],
      },
    ],
    [
      'indexed job repeated completed index',
      three,
      { indexed: ['0 Succeeded', '1 Succeeded', '1 Succeeded'] },
      { created: 1, active: 1, succeeded: 2, completedIndexes: '0,1', indexes: [2], patched: 3 },
    ],
    [
      'indexed job some running and completed pods',
      { parallelism: 8, completions: 20, completionMode: 'Indexed' },
      {
        indexed: ['0 Running', '3 Pending', ...[2, 4, 5, 7, 8, 9].map((index) => `${index} Succeeded`)],
      },
      {
        ...{ created: 6, active: 8, succeeded: 6, completedIndexes: '2,4,5,7-9', patched: 6 },
        indexes: [1, 6, 10, 11, 12, 13],
      },
    ],
    [
      'indexed job some failed pods',
      { parallelism: 3, completions: 4, completionMode: 'Indexed' },
      { indexed: ['0 Failed', '1 Pending', '2 Failed'] },
      { created: 2, active: 3, failed: 2, indexes: [0, 2], patched: 2 },
    ],
    [
      'indexed job some pods without index',
      indexed,
      {
        ...{ active: 1, succeeded: 1, failed: 1 },
        indexed: [
          ...['invalid Running', 'invalid Succeeded', 'invalid Failed', 'invalid Pending'],
          ...['0 Succeeded', '1 Running', '2 Running'],
        ],
      },
      { deleted: 3, active: 2, succeeded: 1, completedIndexes: '0', patched: 8, terminating: 3 },
    ],
    [
      'indexed job repeated indexes',
      { parallelism: 5, completions: 5, completionMode: 'Indexed' },
      {
        ...{ succeeded: 1, failed: 1 },
        indexed: ['invalid Running', '0 Succeeded', '1 Running', '2 Running', '2 Pending'],
      },
      { deleted: 2, active: 2, succeeded: 1, completedIndexes: '0', patched: 5, terminating: 2 },
    ],
    [
      'indexed job with indexes outside of range',
      indexed,
      { indexed: ['0 Succeeded', '5 Running', '6 Succeeded', '7 Pending', '8 Failed'] },
      { deleted: 2, succeeded: 1, completedIndexes: '0', patched: 5, terminating: 2 },
    ],
  ]);
});

describe('one sync of a Job that is being deleted', () => {
  run(
    [
      ['deleting job', two, { pending: 1, active: 1, succeeded: 1 }, { active: 2, succeeded: 1, patched: 3 }],
      ['suspending a deleted job', { ...two, suspend: true }, { active: 2 }, { active: 2, patched: 2 }],
      [
        'too many job failures',
        { ...two, backoffLimit: 0 },
        { failed: 1 },
        { failed: 1, patched: 1, conditions: [exceeded, 'Failed=True:BackoffLimitExceeded'] },
      ],
      [
        'deleted job',
        two,
        { succeeded: 1, failed: 1, active: 1 },
        { active: 1, succeeded: 1, failed: 1, patched: 3 },
      ],
    ],
    {},
    true,
  );
});

describe('one sync of a Job with conditions', () => {
  run([['resuming a suspended job', { parallelism: 2, completions: 4 }, {}, resumed()]], {
    conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }],
  });
  for (const type of ['FailureTarget', 'SuccessCriteriaMet']) {
    const manual = { type, status: 'False' as const, reason: 'ConditionAddedManually' };
    run(
      [
        [
          `${type}=False condition added manually is ignored`,
          { parallelism: 1, completions: 1 },
          { active: 1, ready: 1 },
          { active: 1, ready: 1, conditions: [`${type}=False:ConditionAddedManually`] },
        ],
      ],
      { startTime: START, conditions: [manual] },
    );
  }
});

function resumed(): Expected {
  return { created: 2, active: 2, conditions: ['Suspended=False:JobResumed'] };
}

describe('a Job whose success policy is met', () => {
  test('succeeding job by JobSuccessPolicy: a Pod that still runs does not count as failed', () => {
    const rules = [{ succeededIndexes: '0' }];
    const job = makeJob({ ...two, completionMode: 'Indexed', successPolicy: { rules } });
    const pods = makePods({ indexed: ['0 Succeeded', '1 Failed', '2 Pending'] });
    assert.deepEqual(outcome(job, pods), {
      ...NOTHING,
      ...{ deleted: 1, patched: 3, succeeded: 1, failed: 1, terminating: 1, completedIndexes: '0' },
      conditions: ['SuccessCriteriaMet=True:SuccessPolicy'],
    });
  });
});

describe('Pods in status.uncountedTerminatedPods', () => {
  test('past and new finished pods', () => {
    const status = {
      ...{ startTime: START, active: 1, succeeded: 2, failed: 3 },
      uncountedTerminatedPods: { succeeded: ['a', 'e'], failed: ['b', 'f'] },
    };
    const pods = [makePod('e', 'Succeeded'), makePod('pending', 'Pending')];
    for (const { metadata } of pods) delete metadata.finalizers;
    const ended = ([uid, phase]: [string, PodPhase]) => makePod(uid, phase);
    const rows: [string, PodPhase][] = [
      ['a', 'Succeeded'],
      ['b', 'Failed'],
      ['c', 'Succeeded'],
      ['d', 'Failed'],
    ];
    const job = makeJob({ parallelism: 1, completions: 20 }, status);
    const all = [...pods, ...rows.map(ended)];
    const step = jobStep(job, all, NOW);
    assert.deepEqual(step.status.uncountedTerminatedPods, { succeeded: ['a', 'c'], failed: ['b', 'd'] });
    assert.deepEqual([step.status.succeeded, step.status.failed, step.release.length], [3, 4, 4]);
    const { succeeded, failed, patched } = outcome(job, all);
    assert.deepEqual([succeeded, failed, patched], [5, 6, 4]);
  });

  test('pod flips from failed to succeeded', () => {
    const status = { startTime: START, uncountedTerminatedPods: { failed: ['a', 'b'] } };
    const pods = [makePod('a', 'Failed'), makePod('b', 'Succeeded')];
    const { succeeded, failed, patched } = outcome(makeJob({ parallelism: 2, completions: 2 }, status), pods);
    assert.deepEqual([succeeded, failed, patched], [0, 2, 2]);
  });

  test('too many finished', () => {
    const status = { startTime: START, uncountedTerminatedPods: { failed: ['a', 'b'] } };
    const pods = [...makePods({ succeeded: 500 }), makePod('b', 'Failed')];
    const step = jobStep(makeJob({ parallelism: 600, completions: 600 }, status), pods, NOW);
    assert.equal(step.release.length, 500);
    assert.equal(step.status.uncountedTerminatedPods?.succeeded?.length, 499);
    assert.deepEqual([step.status.failed, step.status.uncountedTerminatedPods?.failed], [1, ['b']]);
  });
});

test('more successes than completions are reported', () => {
  const status = { startTime: START, succeeded: 3 };
  const { events } = jobStep(makeJob({ parallelism: 2, completions: 2 }, status), [], NOW);
  assert.deepEqual(
    events.map(({ type, reason }) => `${type} ${reason}`),
    ['Warning TooManySucceededPods', 'Normal Completed'],
  );
});
