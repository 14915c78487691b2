/**
 * Values of hosts and DaemonJobs on two hosts with systemd, one with Docker and one with Podman: changes, cut links,
 * power cuts in the middle of a job, and a deleted Secret. Run it by `npm run hosts`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { DaemonJob, DaemonJobResult } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { untilPasses } from '../harness/basics/wait-until.js';
import { shell } from '../harness/engines/test-images.js';
import type { TestHost } from '../harness/hosts/test-hosts.js';
import { containersOf, INSTALL_COMMAND, TwoHosts } from '../harness/hosts/two-hosts-fixture.js';

/** Longer than the back-off after a failed Pod, on a busy machine. */
const TIMEOUT_MS = 90_000;
const FOLDER = '/var/tmp/everynode-job';
const WAITS = 'trap "exit 0" TERM; while :; do /bin/busybox sleep 3600 & wait $!; done';

const hostValues = (stores: Record<string, string>) => ({
  apiVersion: 'fleet.everynode.dev/v1',
  kind: 'HostValues',
  metadata: { name: 'stores' },
  spec: {
    secrets: { token: { name: 'till-api', key: 'token' } },
    hosts: Object.fromEntries(Object.entries(stores).map(([host, store]) => [host, { store }])),
  },
});

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'till-api' },
  stringData: { token: 'geheim' },
};

const variable = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const TILL = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'till' },
  spec: {
    selector: { matchLabels: { app: 'till' } },
    template: {
      metadata: { labels: { app: 'till' } },
      spec: {
        terminationGracePeriodSeconds: 2,
        volumes: [
          {
            name: 'host',
            downwardAPI: {
              items: [
                { path: 'store', fieldRef: { fieldPath: "hostValues['store']" } },
                { path: 'site', fieldRef: { fieldPath: "node.metadata.labels['site']" } },
              ],
            },
          },
        ],
        containers: [
          {
            name: 'till',
            image: 'app:1',
            command: shell(
              `echo "env $STORE $TOKEN, argument $0, files" $(/bin/busybox cat /host/store /host/site); ${WAITS}`,
            ),
            args: ['$(STORE)'],
            env: [variable('STORE', "hostValues['store']"), variable('TOKEN', "hostValues['token']")],
            volumeMounts: [{ name: 'host', mountPath: '/host' }],
          },
        ],
      },
    },
  },
};

/** Each start appends a line to `NAME.starts` on the host. The Pod ends when the file `NAME.go` exists. */
const daemonJob = (name: string, spec: object) => ({
  apiVersion: 'fleet.everynode.dev/v1',
  kind: 'DaemonJob',
  metadata: { name },
  spec: {
    ...spec,
    template: {
      spec: {
        volumes: [{ name: 'marks', hostPath: { path: FOLDER } }],
        containers: [
          {
            name,
            image: 'app:1',
            command: shell(
              `echo start >> /marks/${name}.starts
              while [ ! -e /marks/${name}.go ]; do /bin/busybox sleep 0.2; done; echo done on $NODE`,
            ),
            env: [variable('NODE', 'spec.nodeName')],
            volumeMounts: [{ name: 'marks', mountPath: '/marks' }],
          },
        ],
      },
    },
  },
});

const starts = (host: TestHost, name: string): number =>
  Number(host.run('sh', '-c', `cat ${FOLDER}/${name}.starts 2>/dev/null | wc -l`));
const letEnd = (host: TestHost, name: string) => host.run('touch', `${FOLDER}/${name}.go`);
const soon = (check: () => Promise<void> | void) => untilPasses(check, TIMEOUT_MS);

describe('values of hosts and DaemonJobs on hosts with systemd', { concurrency: 1 }, () => {
  let opened: TwoHosts | string;

  before(async () => {
    opened = await TwoHosts.open();
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.close();
  });

  const law = (rule: string, body: (all: TwoHosts, say: (text: string) => void) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof opened === 'string') leaveOut(context, 'two hosts with systemd', opened);
      else await body(opened, (text) => context.diagnostic(text));
    });
  };
  const hostsOf = ({ one, two }: TwoHosts) => [one, two];
  const apply = ({ kubectl }: TwoHosts, ...items: object[]) =>
    kubectl.ok('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  /** Last line of the host's till, from its engine. */
  const printed = (host: TestHost): string => {
    const [id] = containersOf(host, 'till');
    assert.ok(id, `a till on ${host.name}`);
    return host.runEngine('logs', id).split('\n').at(-1) ?? '';
  };
  const job = async ({ kubectl }: TwoHosts, name: string): Promise<DaemonJob> =>
    JSON.parse(await kubectl.ok(`get daemonjob ${name} -o json`));
  const result = async ({ kubectl }: TwoHosts, name: string, host: TestHost): Promise<DaemonJobResult> =>
    JSON.parse(await kubectl.ok(`get daemonjobresult ${name}.${host.name} -o json`));
  const isReady = async ({ kubectl }: TwoHosts, host: TestHost) =>
    assert.match(await kubectl.ok(`get node ${host.name}`), new RegExp(`\n${host.name} +Ready`));
  const isLost = async ({ kubectl }: TwoHosts, host: TestHost) =>
    assert.match(await kubectl.ok(`get node ${host.name}`), new RegExp(`\n${host.name} +NotReady`));

  law('each host has its own values in environment, arguments and files', async (all) => {
    for (const host of hostsOf(all)) {
      const line = (await all.joinLine()).replace('everynode-agent', INSTALL_COMMAND.join(' '));
      host.run('sh', '-c', `${line} --labels site=site-of-${host.name}`);
      host.run('mkdir', '-p', FOLDER);
    }
    await apply(all, SECRET, hostValues({ one: '4711', two: '4712' }), TILL);
    await all.kubectl.ok('rollout status ds/till --timeout=60s');
    await soon(() => {
      assert.equal(printed(all.one), 'env 4711 geheim, argument 4711, files 4711site-of-one');
      assert.equal(printed(all.two), 'env 4712 geheim, argument 4712, files 4712site-of-two');
    });
    assert.match(await all.why('ds/till', 'node/two'), /hostValues\['store'\].*4712.*HostValues stores/s);
  });

  law('a changed value replaces the container of its host alone', async (all) => {
    const [one, two] = hostsOf(all).map((host) => containersOf(host, 'till'));
    await apply(all, hostValues({ one: '4711', two: '5000 $(STORE) ß' }));
    await soon(() =>
      assert.match(printed(all.two), /^env 5000 \$\(STORE\) ß geheim, argument 5000 \$\(STORE\) ß/),
    );
    await all.kubectl.ok('rollout status ds/till --timeout=60s');
    assert.deepEqual(containersOf(all.one, 'till'), one);
    assert.notDeepEqual(containersOf(all.two, 'till'), two);
  });

  law(
    'a value that changes while its host is offline replaces the Pod when the host returns',
    async (all) => {
      const [one, two] = hostsOf(all).map((host) => containersOf(host, 'till'));
      all.two.disconnect();
      await soon(() => isLost(all, all.two));
      await apply(all, hostValues({ one: '4711', two: '6000' }));
      await soon(async () => assert.match(await all.kubectl.ok('get hostvalues stores -o yaml'), /6000/));
      all.two.run('systemctl', 'restart', 'everynode-agent');
      await soon(() => assert.deepEqual(containersOf(all.two, 'till'), two, 'offline, it keeps its Pod'));
      all.two.connect();
      await soon(() => assert.match(printed(all.two), /^env 6000 geheim/));
      await all.kubectl.ok('rollout status ds/till --timeout=60s');
      assert.deepEqual(containersOf(all.one, 'till'), one);
    },
  );

  law('a deleted Secret ends no container, and a restarted one waits for it', async (all) => {
    await all.kubectl.ok('delete secret till-api');
    const before = containersOf(all.one, 'till');
    all.one.runEngine('kill', ...before);
    await soon(async () => {
      const pods = await all.kubectl.ok('get pods -l app=till -o wide');
      assert.match(pods, /CreateContainerConfigError.* one /);
      assert.match(pods, /Running.* two /);
    });
    await apply(all, SECRET);
    await soon(() => assert.match(printed(all.one), /^env 4711 geheim/));
    await all.kubectl.ok('rollout status ds/till --timeout=60s');
  });

  law(
    'a job that ends while its link is cut is reported when the link returns, and ran once',
    async (all) => {
      await apply(all, daemonJob('cut', {}));
      await soon(() =>
        assert.deepEqual(
          hostsOf(all).map((host) => starts(host, 'cut')),
          [1, 1],
        ),
      );
      all.one.disconnect();
      await soon(() => isLost(all, all.one));
      for (const host of hostsOf(all)) letEnd(host, 'cut');
      await soon(() => assert.deepEqual(containersOf(all.one, 'cut'), []));
      await soon(async () => {
        const { succeeded, offline, conditions } = (await job(all, 'cut')).status ?? {};
        assert.deepEqual([succeeded, offline, conditions], [1, 1, undefined]);
      });
      all.one.run('systemctl', 'restart', 'everynode-agent');
      all.one.connect();
      await all.kubectl.ok('wait daemonjob/cut --for=condition=Complete --timeout=90s');
      for (const host of hostsOf(all)) {
        const { phase, exitCode, attempts, message } = await result(all, 'cut', host);
        assert.deepEqual([phase, exitCode, attempts, message], ['Succeeded', 0, 1, `done on ${host.name}\n`]);
        assert.equal(starts(host, 'cut'), 1);
      }
    },
  );

  for (const { retry, name, runs } of [
    { retry: 'AtLeastOnce', name: 'again', runs: 2 },
    { retry: 'AtMostOnce', name: 'never', runs: 1 },
  ]) {
    law(`after a power cut in the middle a job with ${retry} has run ${runs} times`, async (all, say) => {
      await apply(all, daemonJob(name, { retry }));
      await soon(() =>
        assert.deepEqual(
          hostsOf(all).map((host) => starts(host, name)),
          [1, 1],
        ),
      );
      for (const host of hostsOf(all)) host.cutPower();
      for (const host of hostsOf(all)) await host.restorePower();
      const from = performance.now();
      for (const host of hostsOf(all)) await soon(() => isReady(all, host));
      if (runs === 2)
        await soon(() =>
          assert.deepEqual(
            hostsOf(all).map((host) => starts(host, name)),
            [2, 2],
          ),
        );
      for (const host of hostsOf(all)) letEnd(host, name);
      const end = runs === 2 ? 'Complete' : 'Failed';
      await all.kubectl.ok(`wait daemonjob/${name} --for=condition=${end} --timeout=90s`);
      say(`${end} ${Math.round(performance.now() - from)} ms after the boot`);
      for (const host of hostsOf(all)) {
        const { phase, attempts } = await result(all, name, host);
        assert.deepEqual([phase, attempts], [runs === 2 ? 'Succeeded' : 'Failed', runs]);
        assert.equal(starts(host, name), runs);
      }
    });
  }

  law('a job that succeeded never runs again, whatever is deleted or restarted', async (all) => {
    await all.kubectl.ok('delete pods -l fleet.everynode.dev/daemonjob=cut');
    await all.stopCoordinator();
    await all.startCoordinator();
    for (const host of hostsOf(all)) host.run('systemctl', 'restart', 'everynode-agent');
    for (const host of hostsOf(all)) await soon(() => isReady(all, host));
    await all.kubectl.ok('patch daemonjob cut --type=merge -p {"spec":{"run":2}}');
    await soon(async () => assert.equal((await job(all, 'cut')).status?.run, 2));
    for (const host of hostsOf(all)) {
      assert.equal(starts(host, 'cut'), 1);
      assert.equal((await result(all, 'cut', host)).attempts, 1);
    }
    for (const host of hostsOf(all)) assert.match(printed(host), /geheim/);
  });
});
