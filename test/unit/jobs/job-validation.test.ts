/** Validation of Jobs and CronJobs (`pkg/apis/batch/validation/validation_test.go`). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cronJobKind } from '../../../coordinator/kinds/jobs/cronjob-kind.js';
import { jobKind } from '../../../coordinator/kinds/jobs/job-kind.js';
import type { CronJob, Job, JobSpec, JobStatus } from '../../../shared/kube/jobs/job-types.js';

const TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] } };

/** A stored Job: with defaults, selector and generated labels. */
function stored(spec: Partial<JobSpec> = {}, status?: JobStatus): Job {
  const job: Job = structuredClone({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'work', namespace: 'default', uid: 'u1' } },
    spec: { template: TEMPLATE, ...spec },
  });
  jobKind.setDefaults(job);
  jobKind.prepareForCreate(job, { now: 0 });
  return status ? { ...job, status } : job;
}

test('a Job gets its defaults, its selector and its labels', () => {
  const { spec } = stored();
  assert.deepEqual(
    [
      spec.completions,
      spec.parallelism,
      spec.backoffLimit,
      spec.completionMode,
      spec.suspend,
      spec.podReplacementPolicy,
    ],
    [1, 1, 6, 'NonIndexed', false, 'TerminatingOrFailed'],
  );
  assert.deepEqual(spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } });
  assert.deepEqual(spec.template.metadata?.labels, {
    'batch.kubernetes.io/controller-uid': 'u1',
    'controller-uid': 'u1',
    'batch.kubernetes.io/job-name': 'work',
    'job-name': 'work',
  });
  assert.equal(stored({ parallelism: 2 }).spec.completions, undefined, 'a work queue has no completions');
});

describe('a Job is refused', () => {
  const rows: [spec: Partial<JobSpec>, error: string][] = [
    [{ completions: -1 }, 'spec.completions: Invalid value: -1: must be greater than or equal to 0'],
    [
      { completionMode: 'Indexed', parallelism: 2 },
      'spec.completions: Required value: when completion mode is Indexed',
    ],
    [
      { completionMode: 'x' },
      'spec.completionMode: Unsupported value: "x": supported values: "Indexed", "NonIndexed"',
    ],
    [
      { backoffLimitPerIndex: 1 },
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
    ],
    [
      { completionMode: 'Indexed', completions: 2, maxFailedIndexes: 1 },
      'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
    ],
    [
      {
        podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }] },
      },
      'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
    ],
    [
      { podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [0] } }] } },
      'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
    ],
    [
      { podFailurePolicy: { rules: [{ action: 'Ignore' }] } },
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ],
    [
      { completionMode: 'Indexed', completions: 2, successPolicy: { rules: [{ succeededIndexes: '0-5' }] } },
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5"',
    ],
    [
      { completionMode: 'Indexed', completions: 200_000, parallelism: 100_001 },
      'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
    ],
    [
      { completionMode: 'Indexed', completions: 100_001, backoffLimitPerIndex: 1 },
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
    ],
    [
      {
        ...{ completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 },
        ...{ backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      },
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
    [
      {
        ...{ completionMode: 'Indexed', completions: 100_001 },
        ...{ backoffLimitPerIndex: 1, maxFailedIndexes: 10_001 },
      },
      'spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
    [
      { managedBy: 'nothing' },
      'spec.managedBy: Invalid value: "nothing": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    [
      { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Always' } } },
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  ];
  for (const [spec, error] of rows) {
    test(error, () => {
      const errors = jobKind.validate(stored(spec)).map(({ field, message }) => `${field}: ${message}`);
      assert.deepEqual(errors, [error]);
    });
  }
});

describe('a change of a Job', () => {
  const change = (before: Partial<JobSpec>, after: Partial<JobSpec>, status: JobStatus = {}) => {
    const current = { ...stored(before), status };
    const next = structuredClone(current);
    Object.assign(next.spec, after);
    return jobKind
      .validateUpdate(next, current)
      .map(({ field, message }) => `${field}: ${message.slice(-40)}`);
  };
  const moved = {
    ...TEMPLATE,
    metadata: stored().spec.template.metadata,
    spec: { ...stored().spec.template.spec, nodeSelector: { a: 'b' } },
  };

  test('of parallelism and suspend is allowed', () => {
    assert.deepEqual(change({}, { parallelism: 3, suspend: true }), []);
  });
  test('of completions is refused', () => {
    assert.deepEqual(change({}, { completions: 3 }), [
      'spec.completions: Invalid value: 3: field is immutable',
    ]);
  });
  test('of completions of an indexed Job needs the same parallelism', () => {
    const before = { completionMode: 'Indexed', completions: 2, parallelism: 2 };
    assert.deepEqual(change(before, { completions: 3, parallelism: 3 }), []);
    assert.match(change(before, { completions: 3 })[0] ?? '', /modified in tandem with spec\.parallelism/);
  });
  test('of the placement is allowed only while it is suspended and has not started', () => {
    assert.deepEqual(change({ suspend: true }, { template: moved }), []);
    assert.match(change({}, { template: moved })[0] ?? '', /spec\.template: .*field is immutable/);
    assert.match(
      change({ suspend: true }, { template: moved }, { startTime: '2026-01-01T00:00:00Z' })[0] ?? '',
      /field is immutable/,
    );
  });
});

test('a status cannot end a Job without its criteria, and counters do not decrease', () => {
  const at = '2026-01-01T00:00:00Z';
  const validate = (next: JobStatus, current: JobStatus = {}) =>
    (jobKind.validateStatusUpdate?.(stored({}, next), stored({}, current)) ?? []).map(
      ({ message }) => message,
    );
  assert.deepEqual(
    validate({ startTime: at, completionTime: at, conditions: [{ type: 'Complete', status: 'True' }] }),
    ['Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition'],
  );
  const indexed = (status: JobStatus) => {
    const spec = { ...{ completionMode: 'Indexed', completions: 2 ** 31 - 1 }, backoffLimitPerIndex: 1 };
    const errors = jobKind.validateStatusUpdate?.(stored(spec, status), stored(spec, {})) ?? [];
    return errors.map(({ message }) => message);
  };
  assert.deepEqual(indexed({ completedIndexes: '0-2147483646', failedIndexes: '7-2147483645' }), [
    'Invalid value: "7-2147483645": failedIndexes and completedIndexes overlap at index: 7',
  ]);
  assert.deepEqual(indexed({ completedIndexes: '0-6', failedIndexes: '7-2147483646' }), []);
  assert.deepEqual(validate({ failed: 1 }, { failed: 2 }), [
    'Invalid value: 1: cannot decrease the failed counter',
  ]);
});

describe('a CronJob is refused', () => {
  const rows: [spec: Partial<CronJob['spec']>, error: string][] = [
    [{ schedule: '' }, 'spec.schedule: Required value'],
    [
      { schedule: '* * * *' },
      'spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]',
    ],
    [
      { schedule: 'TZ=UTC * * * * *' },
      'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
    [{ timeZone: 'Mars/One' }, 'spec.timeZone: Invalid value: "Mars/One": unknown time zone Mars/One'],
    [
      { concurrencyPolicy: 'No' },
      'spec.concurrencyPolicy: Unsupported value: "No": supported values: "Allow", "Forbid", "Replace"',
    ],
    [
      { failedJobsHistoryLimit: -1 },
      'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    ],
  ];
  for (const [spec, error] of rows) {
    test(error, () => {
      const cronJob: CronJob = structuredClone({
        ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'tick' } },
        spec: { schedule: '@daily', jobTemplate: { spec: { template: TEMPLATE } }, ...spec },
      });
      cronJobKind.setDefaults(cronJob);
      const errors = cronJobKind.validate(cronJob).map(({ field, message }) => `${field}: ${message}`);
      assert.deepEqual(errors, [error]);
    });
  }
});
