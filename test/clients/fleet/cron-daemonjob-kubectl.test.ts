/** CronDaemonJobs and start times in kubectl, on a coordinator with hollow hosts, of which one is offline. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { CronDaemonJob } from '../../../shared/kube/daemonjobs/cron-daemonjob-types.js';
import type { DaemonJobResult } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { runCommand } from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const CRONS = '/apis/fleet.everynode.dev/v1/namespaces/default/crondaemonjobs';
const RESULTS = '/apis/fleet.everynode.dev/v1/namespaces/default/daemonjobresults';

const TEMPLATE = {
  metadata: { annotations: { 'simulate.everynode.dev/exit-after': '100ms' } },
  spec: { containers: [{ name: 'work', image: 'work:1' }] },
};

function manifest(kind: 'DaemonJob' | 'CronDaemonJob', name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'fleet.everynode.dev/v1', kind, metadata: { name }, spec });
}

const cron = (name: string, schedule: string, spec: object = {}) =>
  manifest('CronDaemonJob', name, { schedule, jobTemplate: { spec: { template: TEMPLATE } }, ...spec });

const why = whyNoKubectl();
describe('CronDaemonJobs in kubectl', () => {
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
  const podsOf = async (name: string) =>
    (await kubectl.ok('get pods -o name')).split('\n').filter((pod) => pod.startsWith(`pod/${name}-`)).length;
  const results = async () => (await fleet.api.items<DaemonJobResult>(RESULTS)).items;

  test('kubectl creates, shows, explains, suspends and deletes one', async () => {
    await kubectl.ok('create -f -', cron('yearly', '@yearly', { timeZone: 'Europe/Berlin' }));
    await kubectl.ok('wait --for=jsonpath={.status.nextScheduleTime} cdj/yearly --timeout=30s');
    assert.match(
      await kubectl.ok('get crondaemonjobs'),
      /NAME +SCHEDULE +TIMEZONE +SUSPEND +ACTIVE +LAST SCHEDULE +NEXT SCHEDULE +AGE\s+yearly +@yearly +Europe\/Berlin +False +0 +<none> +\d{4}-12-31T23:00:00Z +\d+s/,
    );
    await until(async () => (await podsOf('yearly')) === 2, {
      timeoutMs: 30_000,
      what: 'the Pods of the next run',
    });
    assert.match(
      await kubectl.ok('get dj -o wide'),
      /yearly-\d+ +Running +0\/2 +0 +0 +0 +0 .* 2 +\d{4}-12-31T23:00:00Z/,
    );
    assert.match(
      await kubectl.ok('explain crondaemonjob.spec.timeZone'),
      /each\s+host's\s+own\s+time\s+zone/,
    );
    assert.match(await kubectl.ok('explain daemonjob.spec.startAt'), /local\s+time\s+of\s+each\s+host/);
    await until(
      async () => /SuccessfulCreate +.*Created job yearly-/.test(await kubectl.ok('describe cdj yearly')),
      {
        timeoutMs: 20_000,
        what: 'the Event of the next run',
      },
    );
    await kubectl.ok('patch cdj yearly --type=merge -p {"spec":{"suspend":true}}');
    await until(async () => (await kubectl.ok('get pods,dj -o name')) === '', {
      timeoutMs: 30_000,
      what: 'the withdrawal of the next run',
    });
    await kubectl.ok('patch cdj yearly --type=merge -p {"spec":{"suspend":false}}');
    await until(async () => (await podsOf('yearly')) === 2, {
      timeoutMs: 30_000,
      what: 'the Pods of the next run after the suspension',
    });
    await kubectl.ok('delete cdj yearly');
    await until(async () => (await kubectl.ok('get pods,dj,djr -o name')) === '', {
      timeoutMs: 30_000,
      what: 'the deletion of the runs by their owner references',
    });
  });

  test('invalid fields are refused with their path', async () => {
    const { code, stderr } = await kubectl.run(
      ['create', '-f', '-'],
      cron('bad', 'every day', { timeZone: 'Mars' }),
    );
    assert.equal(code, 1);
    assert.match(
      stderr,
      /spec\.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: \[every day\]/,
    );
    assert.match(stderr, /spec\.timeZone: Invalid value: "Mars": unknown time zone Mars/);
  });

  test('a host that is offline starts at its time, and reports when it returns', async () => {
    const startAt = toTimestamp(Date.now() + 15_000);
    await kubectl.ok(
      'create -f -',
      manifest('DaemonJob', 'away', { startAt, startingDeadlineSeconds: 60, template: TEMPLATE }),
    );
    await kubectl.ok('wait --for=condition=PodReadyToStartContainers=false pod/away.node-2.0 --timeout=10s');
    await runCommand(fleet, 'offline node-2');
    await kubectl.ok('wait --for=jsonpath={.status.succeeded}=1 dj/away --timeout=60s');
    assert.deepEqual(
      (await results()).map(({ nodeName }) => nodeName),
      ['node-1'],
    );
    const returned = Date.now();
    await runCommand(fleet, 'online node-2');
    await kubectl.ok('wait --for=condition=complete dj/away --timeout=60s');
    for (const { nodeName, startTime, completionTime } of await results()) {
      const late = Date.parse(startTime ?? '') - Date.parse(startAt);
      assert.ok(late >= 0 && late < 5_000, `${nodeName} started ${late} ms late`);
      assert.ok(Date.parse(completionTime ?? '') <= returned, `${nodeName} ended while it was offline`);
    }
    await kubectl.ok('delete dj away');
  });

  test('a Pod keeps its start, and one that an offline host may have run is not run again', async () => {
    const startAt = toTimestamp(Date.now() + 10_000);
    await kubectl.ok(
      'create -f -',
      manifest('DaemonJob', 'once', { startAt, retry: 'AtMostOnce', template: TEMPLATE }),
    );
    await kubectl.ok('wait --for=condition=PodReadyToStartContainers=false pod/once.node-2.0 --timeout=10s');
    await kubectl.ok('annotate pod once.node-2.0 fleet.everynode.dev/start-');
    assert.match(await kubectl.ok('get pod once.node-2.0 -o yaml'), /fleet\.everynode\.dev\/start: /);
    await runCommand(fleet, 'offline node-2');
    await kubectl.ok('wait --for=jsonpath={.status.succeeded}=1 dj/once --timeout=60s');
    await kubectl.ok('delete pod once.node-2.0 --grace-period=0 --force');
    await kubectl.ok('wait --for=condition=failed dj/once --timeout=30s');
    await runCommand(fleet, 'online node-2');
    await kubectl.ok('wait --for=condition=ready node/node-2 --timeout=30s');
    const own = (await results()).find(({ metadata }) => metadata.name === 'once.node-2');
    assert.deepEqual([own?.phase, own?.attempts, own?.reason], ['Failed', 1, 'PodDeleted']);
    assert.equal(await kubectl.ok('get pods -o name'), 'pod/once.node-1.0');
    await kubectl.ok('delete dj once');
  });

  test('hosts without room until the deadline have missed the job', async () => {
    const resources = { requests: { cpu: '1000' } };
    const template = { spec: { containers: [{ name: 'work', image: 'work:1', resources }] } };
    const startAt = toTimestamp(Date.now() + 2_000);
    await kubectl.ok(
      'create -f -',
      manifest('DaemonJob', 'full', { startAt, startingDeadlineSeconds: 5, template }),
    );
    await kubectl.ok('wait --for=condition=failed dj/full --timeout=30s');
    const own = (await results()).filter(({ metadata }) => metadata.name.startsWith('full.'));
    assert.deepEqual(
      own.map(({ phase, reason }) => `${phase} ${reason}`),
      ['Missed MissSchedule', 'Missed MissSchedule'],
    );
    assert.doesNotMatch(await kubectl.ok('get pods -o name'), /full/);
    await kubectl.ok('delete dj full');
  });

  test('a schedule runs each minute, also on a host that is offline', async () => {
    await kubectl.ok('create -f -', cron('tick', '* * * * *', { concurrencyPolicy: 'Forbid' }));
    await until(async () => (await podsOf('tick')) === 2, {
      timeoutMs: 30_000,
      what: 'the Pods of the next run',
    });
    const { body } = await fleet.api.send('GET', `${CRONS}/tick`);
    const due = Date.parse((body as CronDaemonJob).status?.nextScheduleTime ?? '');
    const name = `tick-${due / 60_000}`;
    await runCommand(fleet, 'offline node-2');
    await kubectl.ok(`wait --for=jsonpath={.status.succeeded}=1 dj/${name} --timeout=90s`);
    await runCommand(fleet, 'online node-2');
    await kubectl.ok(`wait --for=condition=complete dj/${name} --timeout=60s`);
    const own = (await results()).filter(({ metadata }) => metadata.name === `${name}.node-2`);
    const late = Date.parse(own[0]?.startTime ?? '') - due;
    assert.ok(late >= 0 && late < 5_000, `started ${late} ms late`);
    await kubectl.ok(`wait --for=jsonpath={.status.lastSuccessfulTime} cdj/tick --timeout=30s`);
    assert.match(await kubectl.ok('get cdj tick'), /tick +\* \* \* \* \* +<host> +False +\d +\d+s /);
    await kubectl.ok('delete cdj tick');
  });
});
