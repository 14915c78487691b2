/** DaemonJobs in kubectl and `everynode job`, on a coordinator with hollow hosts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { DaemonJob, DaemonJobResult } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';
import { runCommand } from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const JOBS = '/apis/fleet.everynode.dev/v1/namespaces/default/daemonjobs';
const RESULTS = '/apis/fleet.everynode.dev/v1/namespaces/default/daemonjobresults';
const HOSTS = 4;

/** Returns a DaemonJob whose containers exit after 100 ms, on some hosts with code 3. */
function manifest(name: string, spec: object = {}, annotations: object = {}): string {
  return JSON.stringify({
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'DaemonJob',
    metadata: { name },
    spec: {
      ...spec,
      template: {
        metadata: { annotations: { 'simulate.everynode.dev/exit-after': '100ms', ...annotations } },
        spec: { containers: [{ name: 'work', image: 'work:1' }] },
      },
    },
  });
}

const why = whyNoKubectl();
describe('DaemonJobs in kubectl', () => {
  if (why) {
    test('kubectl is not installed', (context: TestContext) => leaveOut(context, 'kubectl', why));
    return;
  }
  let fleet: SimulatedFleet;
  let kubectl: Kubectl;
  let config: string;
  before(async () => {
    // One test waits until a host is NotReady.
    fleet = await startSimulatedFleet(HOSTS, 1, { nodeMonitorGracePeriod: '10s' });
    kubectl = createKubectl(fleet.kubeconfig);
    config = join(kubectl.home, 'everynode-kubeconfig');
    writeFileSync(config, fleet.kubeconfig, { mode: 0o600 });
  });
  after(async () => {
    kubectl.remove();
    await fleet.stop();
  });
  const job = async (name: string) => (await fleet.api.send('GET', `${JOBS}/${name}`)).body as DaemonJob;
  const results = async (name: string) =>
    (
      await fleet.api.items<DaemonJobResult>(
        `${RESULTS}?labelSelector=fleet.everynode.dev%2Fdaemonjob%3D${name}`,
      )
    ).items;
  const everynode = (...args: string[]) =>
    runEverynode(['job', args[0] ?? '', '--kubeconfig', config, ...args.slice(1)]);

  test('a DaemonJob completes on each host, and kubectl shows it', async () => {
    await kubectl.ok('apply -f -', manifest('once'));
    await kubectl.ok('wait --for=condition=complete dj/once --timeout=60s');
    assert.match(await kubectl.ok('get daemonjobs once'), /once +Complete +4\/4 +0 +0 +0 +0 +\d+s +\d+s$/);
    assert.match(
      await kubectl.ok('apply -f -', manifest('once')),
      /daemonjob\.fleet\.everynode\.dev\/once unchanged/,
    );
    const table = await kubectl.ok('get djr --field-selector phase=Succeeded');
    assert.match(table, /once\.node-1 +once +node-1 +Succeeded +0 +1 /);
    assert.match(await kubectl.ok('explain daemonjob.spec.retry'), /AtMostOnce: none,\s+the host has failed/);
    await kubectl.ok('logs once.node-1.0');
    await until(
      async () =>
        /Completed +.*daemonjob-controller +Job completed/.test(await kubectl.ok('describe dj once')),
      { timeoutMs: 20_000, what: 'the Event of the completion' },
    );
    assert.match(await kubectl.ok('describe dj once'), /Succeeded: +4/);
  });

  test('invalid fields are refused with their path, and change nothing', async () => {
    const refused = async (spec: object) => {
      const { code, stderr } = await kubectl.run(['create', '-f', '-'], manifest('bad', spec));
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(
      await refused({ retry: 'AtMostOnce', backoffLimit: 1 }),
      /spec\.backoffLimit: Invalid value: 1: must be 0 when retry is AtMostOnce/,
    );
    assert.match(await refused({ until: 'tomorrow' }), /parsing time "tomorrow"/);
    assert.match(
      await refused({ parallelism: '120%' }),
      /spec\.parallelism: .*must not be greater than 100%/,
    );
    assert.match(
      await refused({ startAt: '2026-12-24T03:00:00', startingDeadlineSeconds: 9e15 }),
      /spec\.startingDeadlineSeconds: Invalid value: 9000000000000000: must be less than or equal to 2147483647/,
    );
    assert.match(await refused({ retry: 'Twice' }), /spec\.retry: Unsupported value: "Twice"/);
    const { code, stderr } = await kubectl.run([
      'patch',
      'dj',
      'once',
      '--type=merge',
      '-p',
      '{"spec":{"template":{"spec":{"hostNetwork":true}}}}',
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /spec\.template: Invalid value: .*field is immutable/);
  });

  test('an approval of a wave counts for one run', async () => {
    const waves = [
      { name: 'canary', nodes: 1 },
      { name: 'half', nodes: 2, approval: 'Manual' },
    ];
    const policy = { selector: { matchLabels: { not: 'used' } }, waves };
    await kubectl.ok(
      'create -f -',
      JSON.stringify({
        apiVersion: 'fleet.everynode.dev/v1',
        kind: 'RolloutPolicy',
        metadata: { name: 'careful' },
        spec: policy,
      }),
    );
    const text = manifest('approved', { rolloutPolicyName: 'careful' });
    const approved = JSON.parse(text);
    approved.metadata.annotations = { 'fleet.everynode.dev/approve': '*' };
    const { code, stderr } = await kubectl.run(['create', '-f', '-'], JSON.stringify(approved));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /metadata\.annotations\[fleet\.everynode\.dev\/approve\]: Forbidden: annotate the DaemonJob/,
    );
    await kubectl.ok('apply -f -', text);
    const phase = '--for=jsonpath={.status.rollout.phase}=AwaitingApproval';
    await kubectl.ok(`wait ${phase} dj/approved --timeout=60s`);
    await kubectl.ok('annotate dj approved fleet.everynode.dev/approve=half');
    await kubectl.ok('wait --for=condition=complete dj/approved --timeout=60s');
    await kubectl.ok('patch dj approved --type=merge -p {"spec":{"run":2}}');
    assert.equal((await job('approved')).metadata.annotations?.['fleet.everynode.dev/approve'], undefined);
    // All hosts have succeeded, so the next run has nothing to start and nothing to approve.
    await kubectl.ok('wait --for=jsonpath={.status.run}=2 dj/approved --timeout=60s');
    assert.equal((await job('approved')).status?.rollout?.phase, 'Completed');
    await kubectl.ok('delete dj approved --cascade=foreground --timeout=60s');
  });

  test('an update lock on a host delays its start, also offline, and an operator overrides it', async () => {
    await kubectl.ok(
      'create -f -',
      JSON.stringify({
        apiVersion: 'fleet.everynode.dev/v1',
        kind: 'RolloutPolicy',
        metadata: { name: 'locks' },
        spec: { selector: { matchLabels: { not: 'used' } }, updateLock: { maxSeconds: 3600 } },
      }),
    );
    const locked = fleet.hosts.select(({ name }) => name === 'node-1' || name === 'node-2');
    for (const host of locked) host.lockUpdates('drawer open');
    const text = manifest('locked', { rolloutPolicyName: 'locks' }).replace('work:1', 'locked:1');
    await kubectl.ok('create -f -', text);
    await kubectl.ok('wait --for=jsonpath={.status.succeeded}=2 dj/locked --timeout=60s');
    await kubectl.ok('wait --for=jsonpath={.status.waiting}=2 dj/locked --timeout=60s');
    const cli = async (...args: string[]) => {
      const { code, stdout, stderr } = await runEverynode([...args, '--kubeconfig', config]);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.match(await cli('job', 'results', 'locked'), /node-1 +Waiting +UpdateLocked +drawer open/);
    assert.match(await cli('why', 'dj/locked'), /Waiting +2 +node-1, node-2/);
    assert.match(
      await cli('why', 'dj/locked', 'node/node-1'),
      /^Waiting: DaemonJob default\/locked on node-1: UpdateLocked: drawer open; if it cannot wait: everynode rollout override-locks -n default dj\/locked node-1 --reason WHY/,
    );
    await cli('rollout', 'override-locks', 'dj/locked', 'node-1', '--reason', 'recall');
    await kubectl.ok('wait --for=jsonpath={.status.succeeded}=3 dj/locked --timeout=60s');
    assert.match(
      await kubectl.ok('get events --field-selector reason=UpdateLockOverridden'),
      /drawer open; overridden by everynode-admin: recall/,
    );
    await runCommand(fleet, 'offline node-2');
    for (const host of locked) host.lockUpdates(undefined);
    await until(async () => locked[1]?.hasRun('locked:1') === true, {
      timeoutMs: 30_000,
      what: 'the start on the offline host',
    });
    await runCommand(fleet, 'online node-2');
    await kubectl.ok('wait --for=condition=complete dj/locked --timeout=60s');
    await kubectl.ok('delete dj locked --cascade=foreground --timeout=60s');
  });

  test('a deleted DaemonJob takes its Pods and results with it', async () => {
    await kubectl.ok('delete dj once --cascade=foreground --timeout=60s');
    await until(async () => (await results('once')).length === 0, {
      timeoutMs: 30_000,
      what: 'the results to be deleted',
    });
    assert.equal(await kubectl.ok('get pods -o name'), '');
  });

  test('a host that is offline runs the job when it returns', async () => {
    await runCommand(fleet, 'offline node-2');
    await until(async () => /node-2 +NotReady/.test(await kubectl.ok('get nodes')), {
      timeoutMs: 90_000,
      what: 'the node to be NotReady',
    });
    await kubectl.ok('apply -f -', manifest('away'));
    await kubectl.ok('wait --for=jsonpath={.status.succeeded}=3 dj/away --timeout=60s');
    assert.match(await kubectl.ok('get dj away'), /away +Running +3\/4 +0 +0 +0 +1 /);
    await runCommand(fleet, 'online node-2');
    await kubectl.ok('wait --for=condition=complete dj/away --timeout=60s');
    assert.equal((await results('away')).length, HOSTS);
  });

  test('everynode job run prints a table, and its exit code is the outcome', async () => {
    const { code, stdout, stderr } = await everynode(
      'run',
      '--selector',
      'kubernetes.io/hostname=node-3',
      '--name',
      'cli',
      '--',
      'work:1',
      'uname',
      '-a',
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^created daemonjob cli\n/);
    assert.match(stdout, /NODE +RESULT +EXIT CODE.*\nnode-3 +Succeeded +0 +1 /);
    assert.match(stdout, /cli is complete: 1 of 1 host succeeded\n$/);
    const { spec } = await job('cli');
    assert.deepEqual(spec.template.spec.containers[0]?.command, ['uname', '-a']);
    const unselected = await everynode('run', '--', 'work:1');
    assert.equal(unselected.code, 2);
    assert.match(unselected.stderr, /No hosts selected: pass --selector or --all\./);
  });

  test('everynode job results lists failed hosts, and rerun runs on these only', async () => {
    const annotations = { 'simulate.everynode.dev/fail-on': 'node-1' };
    await kubectl.ok('create -f -', manifest('broken', { backoffLimit: 0 }, annotations));
    await kubectl.ok('wait --for=condition=failed dj/broken --timeout=60s');
    const { stdout } = await everynode('results', '--failed', 'broken');
    assert.match(stdout, /\nnode-1 +Failed +1 +1 .*Error/);
    assert.match(
      stdout,
      /broken has failed \(FailedHosts: 1 host failed, 0 hosts missed it\): 3 of 4 hosts succeeded/,
    );
    const json = await everynode('results', '--failed', '-o', 'json', 'broken');
    assert.deepEqual(
      json.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).nodeName),
      ['node-1'],
    );
    const { code } = await everynode('rerun', 'broken');
    assert.equal(code, 6);
    const attempts = (await results('broken')).map(({ nodeName, attempts: count }) => `${nodeName}=${count}`);
    assert.deepEqual(attempts.sort(), ['node-1=2', 'node-2=1', 'node-3=1', 'node-4=1']);
  });
});
