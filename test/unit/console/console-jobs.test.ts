/** Texts and drafts of the job pages, and the values that a template uses. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type {
  DaemonJob,
  DaemonJobRollout,
  DaemonJobStatus,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

interface JobText {
  jobStatus(job: DaemonJob): { tone: string; word: string };
  waitsForOperator(job: DaemonJob): boolean;
  scheduledStart(job: DaemonJob): string | undefined;
  jobProgressText(status: DaemonJobStatus | undefined): string;
  durationText(ms: number): string;
}

interface JobWrites {
  waveActions(job: DaemonJob): { label: string; consequence: string; command: string }[];
}

interface Draft {
  namespace: string;
  target: 'hosts' | 'all';
  selector: string;
  image: string;
  command: string;
  parallelism: string;
  maxFailed: string;
  retries: string;
}

interface RunDraft {
  firstDraft(namespace: string): Draft;
  jobOfDraft(
    draft: Draft,
  ): { job: { metadata: { namespace: string }; spec: Record<string, unknown> } } | { problem: string };
  commandOfDraft(draft: Draft): string;
}

interface TemplateValues {
  templateValues(template: PodTemplateSpec): { path: string; key?: string; places: string[] }[];
}

function job(status: DaemonJobStatus, spec: Partial<DaemonJob['spec']> = {}): DaemonJob {
  const template = { spec: { containers: [] } };
  const about = { apiVersion: 'fleet.everynode.dev/v1', kind: 'DaemonJob', metadata: { name: 'j' } };
  return { ...about, spec: { template, ...spec }, status };
}

const waves = (phase: DaemonJobRollout['phase']): DaemonJobRollout => ({
  ...{ phase, message: '', wave: 'canary', startTime: '' },
  waves: [
    { name: 'canary', hosts: 1, succeeded: 1, failed: 0, missed: 0, offline: 0 },
    { name: 'rest', hosts: 3, succeeded: 1, failed: 0, missed: 0, offline: 1 },
  ],
});

const condition = (type: string) => ({ type, status: 'True' as const, lastTransitionTime: '' });

describe('the text of a job', () => {
  let text: JobText;
  before(async () => {
    text = await consoleModule<JobText>('jobs/job-text.ts');
  });

  test('the state is the end of the current run, then what holds the job', () => {
    const cases: [DaemonJob, string][] = [
      [job({ hosts: 1, conditions: [condition('Complete')] }), 'Complete'],
      [job({ hosts: 1, conditions: [condition('Failed')] }, { suspend: true }), 'Failed'],
      [job({ hosts: 1, conditions: [condition('Failed')], run: 1 }, { run: 2 }), 'Running'],
      [job({ hosts: 1, conditions: [condition('FailureTarget')] }), 'Stopping'],
      [job({ hosts: 1 }, { suspend: true }), 'Suspended'],
      [job({}), 'Not processed yet'],
    ];
    for (const [each, word] of cases) assert.equal(text.jobStatus(each).word, word);
  });

  test('without an end the state is what the waves wait for, then the start time', () => {
    const startAt = '2026-12-24T03:00:00';
    const approval = waves('AwaitingApproval');
    const cases: [DaemonJob, string, boolean][] = [
      [job({ hosts: 4, rollout: approval }), 'Waiting for approval', true],
      [job({ hosts: 4, rollout: waves('AwaitingHosts') }), 'Waiting for hosts', true],
      [job({ hosts: 4, rollout: waves('Soaking') }), 'Soaking', false],
      [job({ hosts: 4, rollout: waves('Progressing') }), 'Running', false],
      [job({ hosts: 4, rollout: waves('Completed') }), 'Running', false],
      [job({ hosts: 4, rollout: approval }, { suspend: true }), 'Suspended', false],
      [job({ hosts: 4, rollout: approval, conditions: [condition('FailureTarget')] }), 'Stopping', false],
      [job({ hosts: 4, rollout: approval, conditions: [condition('Failed')] }), 'Failed', false],
      [job({ hosts: 4, rollout: approval, run: 1 }, { run: 2 }), 'Running', false],
      [job({ hosts: 4 }, { startAt }), 'Scheduled', false],
      [job({ hosts: 4, rollout: approval }, { startAt }), 'Waiting for approval', true],
      [job({ hosts: 4, startTime: '2026-12-24T02:00:00Z' }, { startAt }), 'Running', false],
      [job({ hosts: 4, run: 2 }, { startAt, run: 2 }), 'Running', false],
    ];
    for (const [each, word, waits] of cases)
      assert.deepEqual([text.jobStatus(each).word, text.waitsForOperator(each)], [word, waits]);
    assert.equal(text.scheduledStart(job({ hosts: 4 }, { startAt })), startAt);
  });

  test('counts of zero are left out of the progress', () => {
    const progress = text.jobProgressText({ hosts: 9, succeeded: 4, failed: 1, active: 2, waiting: 2 });
    assert.equal(progress, '4 of 9 succeeded, 1 failed, 2 running, 2 waiting');
    assert.equal(text.jobProgressText(undefined), '0 of 0 succeeded');
  });

  test('a duration has at most two units', () => {
    const cases: [number, string][] = [
      [0, '0 ms'],
      [999, '999 ms'],
      [1_400, '1 s'],
      [59_600, '1 min'],
      [185_000, '3 min 5 s'],
      [7_200_000, '2 h'],
      [7_800_000, '2 h 10 min'],
    ];
    for (const [ms, words] of cases) assert.equal(text.durationText(ms), words);
  });
});

describe('the actions on a job with waves', () => {
  let writes: JobWrites;
  before(async () => {
    writes = await consoleModule<JobWrites>('jobs/job-writes.ts');
  });
  const named = (status: DaemonJobStatus, annotations: Record<string, string> = {}): DaemonJob => ({
    ...job({ hosts: 4, ...status }),
    metadata: { name: 'flash', namespace: 'shop', annotations },
  });
  const approve = 'fleet.everynode.dev/approve';
  const rows: [what: string, job: DaemonJob, label?: string, consequence?: string, command?: string][] = [
    [
      'that waits for approval',
      named({ rollout: waves('AwaitingApproval') }),
      ...(['Approve rest', 'Wave rest opens: 2 hosts may start.'] as const),
      `kubectl -n shop annotate daemonjob flash --overwrite ${approve}=rest`,
    ],
    [
      'with approved waves, which stay approved',
      named({ rollout: waves('AwaitingApproval') }, { [approve]: 'canary, last' }),
      ...(['Approve rest', 'Wave rest opens: 2 hosts may start.'] as const),
      `kubectl -n shop annotate daemonjob flash --overwrite ${approve}=canary,last,rest`,
    ],
    [
      'that soaks',
      named({ rollout: waves('Soaking') }),
      ...([
        'Promote canary',
        'The soak time of wave canary ends; wave rest opens: 2 hosts may start.',
      ] as const),
      'kubectl -n shop annotate daemonjob flash --overwrite fleet.everynode.dev/promote=canary',
    ],
    ['that runs', named({ rollout: waves('Progressing') })],
    ['that is finished', named({ rollout: waves('AwaitingApproval'), conditions: [condition('Failed')] })],
    ['that stops', named({ rollout: waves('Soaking'), conditions: [condition('FailureTarget')] })],
    ['whose waves are those of the last run', named({ rollout: waves('AwaitingApproval'), run: 3 })],
  ];
  for (const [what, each, ...expected] of rows) {
    test(`${what} are ${expected[0] ?? 'none'}`, () => {
      const [action] = writes.waveActions(each);
      const found = action ? [action.label, action.consequence, action.command] : [];
      assert.deepEqual(found, expected);
    });
  }
});

describe('the form "Run on hosts"', () => {
  let form: RunDraft;
  before(async () => {
    form = await consoleModule<RunDraft>('jobs/run-draft.ts');
  });
  const draft = (over: Partial<Draft>): Draft => ({
    ...form.firstDraft('default'),
    image: 'busybox:1.36',
    selector: 'site=kiel',
    ...over,
  });

  test('an incomplete form says what is missing', () => {
    const cases: [Partial<Draft>, RegExp][] = [
      [{ image: ' ' }, /Enter an image/],
      [{ selector: '' }, /Enter labels such as/],
      [{ selector: 'kiel' }, /must look like/],
      [{ retries: '-1' }, /Retries must be/],
    ];
    for (const [over, expected] of cases) {
      const made = form.jobOfDraft(draft(over));
      assert.ok('problem' in made);
      assert.match(made.problem, expected);
    }
  });

  test('the job is the one of everynode job run', () => {
    const made = form.jobOfDraft(draft({ command: 'sh -c "df -h /"', maxFailed: '5%', selector: 'a=b,c=d' }));
    assert.ok('job' in made);
    const container = { name: 'job', image: 'busybox:1.36', command: ['sh', '-c', 'df -h /'] };
    assert.deepEqual(made.job.spec, {
      template: { spec: { nodeSelector: { a: 'b', c: 'd' }, containers: [container] } },
      ...{ backoffLimit: 0, retry: 'AtLeastOnce', activeDeadlineSeconds: 3_600 },
      ...{ ttlSecondsAfterFinished: 604_800, parallelism: '100%', maxFailed: '5%' },
    });
  });

  test('all hosts need a choice of their own, and the command names it', () => {
    const all = draft({ target: 'all', selector: '' });
    assert.ok('job' in form.jobOfDraft(all));
    assert.equal(form.commandOfDraft(all), 'everynode job run --all -- busybox:1.36');
    assert.equal(
      form.commandOfDraft(draft({ namespace: 'shop', parallelism: '10', retries: '2', command: 'uname -a' })),
      'everynode job run --selector site=kiel -n shop --parallelism 10 --retries 2 -- busybox:1.36 uname -a',
    );
  });

  test('each field is one word of the command, whatever it contains', () => {
    const cases: [Partial<Draft>, string][] = [
      [{ selector: 'a=b, c=d' }, "--selector 'a=b, c=d' -- busybox:1.36"],
      [{ namespace: 'shop;reboot' }, "--selector site=kiel -n 'shop;reboot' -- busybox:1.36"],
      [{ command: 'sh -c "df -h /"' }, "--selector site=kiel -- busybox:1.36 sh -c 'df -h /'"],
      [{ command: 'echo "it\'s"' }, "--selector site=kiel -- busybox:1.36 echo 'it'\\''s'"],
    ];
    for (const [over, expected] of cases)
      assert.equal(form.commandOfDraft(draft(over)), `everynode job run ${expected}`);
  });

  test('the form starts in the given namespace', () => {
    const made = form.jobOfDraft({ ...draft({}), ...form.firstDraft('shop'), image: 'a:1', target: 'all' });
    assert.ok('job' in made);
    assert.equal(made.job.metadata.namespace, 'shop');
  });
});

test('a template lists each value once, with all places that use it', async () => {
  const { templateValues } = await consoleModule<TemplateValues>('daemonsets/template-values.ts');
  const field = (fieldPath: string) => ({ fieldRef: { apiVersion: 'v1', fieldPath } });
  const env = [
    { name: 'STORE', valueFrom: field("hostValues['store']") },
    { name: 'SITE', valueFrom: field("node.metadata.labels['site']") },
    { name: 'POD', valueFrom: field('metadata.name') },
  ];
  const volumes = [
    { name: 'v', downwardAPI: { items: [{ path: 'store.txt', ...field("hostValues['store']") }] } },
  ];
  const annotations = { 'resources.fleet.everynode.dev/till.limits.memory': 'mem' };
  const containers = [{ name: 'till', image: 'till:1', env }];
  assert.deepEqual(templateValues({ metadata: { annotations }, spec: { containers, volumes } }), [
    { path: "hostValues['mem']", key: 'mem', places: ['memory limit of till'] },
    {
      path: "hostValues['store']",
      key: 'store',
      places: ['variable STORE of till', 'file store.txt of volume v'],
    },
    { path: "node.metadata.labels['site']", places: ['variable SITE of till'] },
  ]);
});
