/** Jobs and CronJobs in kubectl, on a coordinator with hollow hosts. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Job } from '../../../shared/kube/jobs/job-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const PODS = '/api/v1/namespaces/default/pods';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

/** Returns a Job whose containers exit with this code after 100 ms. */
function manifest(name: string, code: number, spec: object = {}): string {
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { ...spec, template: template(code) },
  });
}

function template(code: number): object {
  return {
    metadata: {
      annotations: {
        'simulate.everynode.dev/exit-after': '100ms',
        'simulate.everynode.dev/exit-code': String(code),
      },
    },
    spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] },
  };
}

const why = whyNoKubectl();
describe('Jobs in kubectl', () => {
  if (why) {
    test('kubectl is not installed', (context: TestContext) => leaveOut(context, 'kubectl', why));
    return;
  }
  let fleet: SimulatedFleet;
  let kubectl: Kubectl;
  before(async () => {
    fleet = await startSimulatedFleet(2);
    kubectl = createKubectl(fleet.kubeconfig);
  });
  after(async () => {
    kubectl.remove();
    await fleet.stop();
  });
  const job = async (name: string) => (await fleet.api.send('GET', `${JOBS}/${name}`)).body as Job;
  const pods = async (name: string) =>
    (await fleet.api.items<Pod>(`${PODS}?labelSelector=job-name%3D${name}`)).items;

  test('a Job completes, and its Pods keep no finalizer', async () => {
    await kubectl.ok('create -f -', manifest('three', 0, { completions: 3, parallelism: 2 }));
    await kubectl.ok('wait --for=condition=complete job/three --timeout=60s');
    assert.match(await kubectl.ok('get job three'), /three +Complete +3\/3 +\d+s +\d+s$/);
    const { status } = await job('three');
    assert.deepEqual(
      [status?.succeeded, status?.active, status?.uncountedTerminatedPods],
      [3, undefined, {}],
    );
    assert.deepEqual(
      (await pods('three')).map(({ metadata }) => metadata.finalizers),
      [undefined, undefined, undefined],
    );
    assert.match(await kubectl.ok('get pods -l job-name=three'), /Completed/);
    await kubectl.ok('logs job/three');
    assert.match(await kubectl.ok('explain job.spec.backoffLimit'), /FIELD: backoffLimit <integer>/);
    assert.match(await kubectl.ok('get all'), /job\.batch\/three/);
    const described = await kubectl.ok('describe job three');
    assert.match(described, /Pods Statuses: +0 Active \(0 Ready\) \/ 3 Succeeded \/ 0 Failed/);
    await until(
      async () => /Completed +.* +job-controller +Job completed/.test(await kubectl.ok('describe job three')),
      {
        timeoutMs: 20_000,
        what: 'the Event of the completion',
      },
    );
  });

  test('a Job whose Pods fail ends with BackoffLimitExceeded', async () => {
    await kubectl.ok('create -f -', manifest('broken', 3, { backoffLimit: 0 }));
    await kubectl.ok('wait --for=condition=failed job/broken --timeout=60s');
    const { status } = await job('broken');
    assert.equal(status?.failed, 1);
    const failed = status?.conditions?.find(({ type }) => type === 'Failed');
    assert.deepEqual(
      [failed?.reason, failed?.message],
      ['BackoffLimitExceeded', 'Job has reached the specified backoff limit'],
    );
  });

  test('an indexed Job names its completed indexes', async () => {
    const spec = { completions: 3, parallelism: 3, completionMode: 'Indexed' };
    await kubectl.ok('create -f -', manifest('indexed', 0, spec));
    await kubectl.ok('wait --for=condition=complete job/indexed --timeout=60s');
    assert.equal((await job('indexed')).status?.completedIndexes, '0-2');
    const [pod] = await pods('indexed');
    assert.match(pod?.spec.hostname ?? '', /^indexed-[012]$/);
    assert.equal(pod?.spec.containers[0]?.env?.[0]?.name, 'JOB_COMPLETION_INDEX');
  });

  test('an applied Job can be applied again, also by the server', async () => {
    const text = manifest('applied', 0, { suspend: true });
    await kubectl.ok('apply -f -', text);
    assert.match(await kubectl.ok('apply -f -', text), /job\.batch\/applied unchanged/);
    assert.equal(await kubectl.ok('apply --server-side -f -', text), 'job.batch/applied serverside-applied');
    await kubectl.ok('apply --server-side -f -', text);
    const { spec } = await job('applied');
    assert.equal(spec.template.metadata?.labels?.['job-name'], 'applied');
    await kubectl.ok('delete job applied --timeout=60s');
  });

  test('a suspended Job runs no Pods until it is resumed', async () => {
    await kubectl.ok('create -f -', manifest('later', 0, { suspend: true }));
    await kubectl.ok('wait --for=condition=Suspended job/later --timeout=60s');
    assert.match(await kubectl.ok('get job later'), /Suspended +0\/1/);
    assert.deepEqual(await pods('later'), []);
    await kubectl.ok('patch job later -p {"spec":{"suspend":false}}');
    await kubectl.ok('wait --for=condition=complete job/later --timeout=60s');
  });

  test('a deleted Job takes its Pods with it, also while they run', async () => {
    await kubectl.ok('create job running --image=work:1');
    await until(async () => (await pods('running'))[0]?.status?.phase === 'Running', {
      timeoutMs: 30_000,
      what: 'the Pod to run',
    });
    await kubectl.ok('delete job running --cascade=foreground --timeout=60s');
    assert.deepEqual(await pods('running'), []);
    await kubectl.ok('delete job three indexed --timeout=60s');
    await until(async () => (await pods('three')).length + (await pods('indexed')).length === 0, {
      timeoutMs: 30_000,
      what: 'the Pods of deleted Jobs to be deleted',
    });
  });

  test('--cascade=orphan keeps the Pods without the finalizer of the Job', async () => {
    await kubectl.ok('delete job later --cascade=orphan --timeout=60s');
    const [pod] = await pods('later');
    assert.deepEqual([pod?.metadata.ownerReferences, pod?.metadata.finalizers], [undefined, undefined]);
  });

  test('a deleted Pod of a running Job is replaced and counted once', async () => {
    await kubectl.ok('create job replaced --image=work:1');
    const running = async () => (await pods('replaced')).filter(({ status }) => status?.phase === 'Running');
    await until(async () => (await running()).length > 0, { timeoutMs: 30_000, what: 'the Pod to run' });
    const [first] = await running();
    await kubectl.ok(`delete pod ${first?.metadata.name} --timeout=60s`);
    await until(async () => (await job('replaced')).status?.failed === 1, {
      timeoutMs: 30_000,
      what: 'one failure',
    });
    await until(async () => (await pods('replaced')).some(({ status }) => status?.phase === 'Running'), {
      timeoutMs: 30_000,
      what: 'the next Pod after the back-off of 10 s',
    });
    assert.equal((await job('replaced')).status?.failed, 1);
  });

  test('a CronJob is listed, starts Jobs by hand, and starts one each minute', async () => {
    const created = await kubectl.run([
      ...['create', 'cronjob', 'tick', '--image=work:1', '--schedule=*/1 * * * *'],
    ]);
    assert.equal(created.code, 0, created.stderr);
    assert.match(await kubectl.ok('get cj tick'), /tick +\*\/1 \* \* \* \* +<none> +False +\d +\S+ +\d+s$/);
    await kubectl.ok('create job by-hand --from=cronjob/tick');
    assert.equal((await job('by-hand')).metadata.ownerReferences?.[0]?.kind, 'CronJob');
    await until(async () => /tick-\d+/.test(await kubectl.ok('get jobs -o name')), {
      timeoutMs: 75_000,
      what: 'the Job of the next minute',
    });
    const described = await kubectl.ok('describe cronjob tick');
    assert.match(described, /SuccessfulCreate|Active Jobs: +tick-\d+/);
    await kubectl.ok('delete cronjob tick --timeout=60s');
    await until(async () => !/tick-|by-hand/.test(await kubectl.ok('get jobs -o name')), {
      timeoutMs: 30_000,
      what: 'the Jobs of the deleted CronJob to be deleted',
    });
  });

  test('a Job with restartPolicy Always is refused with the field and the remedy', async () => {
    const text = manifest('wrong', 0).replace('"Never"', '"Always"');
    const { stderr } = await kubectl.run(['create', '-f', '-'], text);
    assert.match(
      stderr,
      /spec\.template\.spec\.restartPolicy: Required value: valid values: "OnFailure", "Never"/,
    );
  });
});
