/**
 * Three hosts with systemd, two of them without Node.js: installs by the README's commands and removes everything
 * again. Run it by `npm run hosts`. It builds two releases of the agent as single files, which takes minutes, so it is
 * not part of `npm test`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { untilPasses } from '../harness/basics/wait-until.js';
import { findKubectl } from '../harness/clients/kubectl.js';
import { UNITS_OF_TESTS } from '../harness/hosts/host-units.js';
import { type TestHost, TestHosts } from '../harness/hosts/test-hosts.js';
import { type HostSnapshot, takeHostSnapshot } from './host-snapshot.js';
import { makeReleases } from './make-releases.js';

const TREE = resolve('.');
const EVERYNODE = ['/usr/local/bin/node', '/opt/everynode/dist/coordinator/cli/everynode.js'];
const KUBECONFIG = '/var/lib/everynode/kubeconfig';
const PATIENCE_MS = 60_000;
/** Systemd's timer rolls a trial version back 150 s after its start. */
const TRIAL_MS = 240_000;

const DAEMON_SETS = `
apiVersion: fleet.everynode.dev/v1
kind: RolloutPolicy
metadata: {name: agents, namespace: kube-system}
spec:
  selector: {matchLabels: {app: everynode-agent}}
  waves: [{name: canary, nodes: 1}]
  failureBudget: {maxFailed: 0, progressDeadlineSeconds: 300, action: RollBack}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: everynode-agent, namespace: kube-system, labels: {app: everynode-agent}}
spec:
  selector: {matchLabels: {app: everynode-agent}}
  template:
    metadata: {labels: {app: everynode-agent}}
    spec: {hostNetwork: true, containers: [{name: agent, image: "everynode.dev/agent:0.1.0"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: "app:1"}]}
`;

describe('installing three bare hosts by the README', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-hosts-'));
  const releases = join(TREE, 'dist/hosts');
  let why: string | undefined;
  let hosts: TestHosts;
  let coordinator: TestHost;
  let members: TestHost[];
  /** State of each host before the installation. */
  const found = new Map<TestHost, HostSnapshot>();
  let line = '';

  before(async () => {
    const opened = await TestHosts.open();
    if (typeof opened === 'string') {
      why = opened;
      return;
    }
    hosts = opened;
    makeReleases(releases, join(folder, 'key.pem'));
    coordinator = await hosts.start('co', 'docker', TREE);
    members = [await hosts.start('h1', 'docker'), await hosts.start('h2', 'podman')];
    for (const host of [coordinator, ...members]) {
      for (const [path, text] of UNITS_OF_TESTS) host.write(path, text);
    }
    for (const host of members) await host.loadImages(['app:1']);
    coordinator.copyIn(findKubectl(), '/usr/local/bin/kubectl');
    for (const host of [coordinator, ...members]) found.set(host, takeHostSnapshot(host));
  });
  after(async () => {
    if (why === undefined) await hosts.stop();
    for (const path of [folder, releases]) rmSync(path, { recursive: true, force: true });
  });

  const kubectl = (...args: string[]): string =>
    coordinator.run('kubectl', '--cache-dir', '/tmp/kube-cache', '--kubeconfig', KUBECONFIG, ...args);
  const containersOf = (host: TestHost): string[] =>
    host.runEngine('ps', '-q', '--filter', 'label=everynode.dev/container=app').split('\n').filter(Boolean);
  const everywhere = (): Promise<void> =>
    untilPasses(() => {
      for (const host of members) assert.equal(containersOf(host).length, 1, host.name);
    }, PATIENCE_MS);
  const versionsAre = (version: string): Promise<void> =>
    untilPasses(() => {
      const nodes = kubectl('get', 'nodes', '--no-headers');
      for (const { name } of members) assert.match(nodes, new RegExp(`^${name} +Ready .* v${version}$`, 'm'));
    }, TRIAL_MS);
  /** The units of both programs, each on the host that has it. */
  const bothUnits = (): { host: TestHost; unit: string }[] => [
    { host: members[0] ?? assert.fail(), unit: 'everynode-agent' },
    { host: coordinator, unit: 'everynode-coordinator' },
  ];
  const install = (host: TestHost, ...flags: string[]): string =>
    host.run('sh', '-c', [line.replace('sudo ', ''), ...flags].join(' '));

  const law = (rule: string, body: (say: (text: string) => void) => Promise<void>): void => {
    test(rule, async (context) => {
      if (why === undefined) await body((text) => context.diagnostic(text));
      else leaveOut(context, 'three hosts with systemd', why);
    });
  };

  law('one command installs the coordinator and prints the join command, also if it runs twice', async () => {
    const flags = ['--release', '/opt/everynode/dist/hosts/0.1.0', '--advertise', coordinator.address];
    coordinator.run(...EVERYNODE, 'coordinator', 'install', ...flags);
    const output = coordinator.run(...EVERYNODE, 'coordinator', 'install');
    line = /^ *(\{ echo .*)$/m.exec(output)?.[1] ?? '';
    assert.match(
      line,
      /^\{ echo EVERYNODE_TOKEN=\S+; curl .* --pinnedpubkey 'sha256\/\/\S+' https:\S+\/install\.sh; \} \| sudo sh -s --$/,
    );
    assert.equal(coordinator.run('systemctl', 'is-active', 'everynode-coordinator'), 'active');
  });

  law('the doctor finds no error, and the installation refuses the error that the doctor finds', async () => {
    const doctor = () => coordinator.run('sh', '-c', `${EVERYNODE.join(' ')} doctor || true`);
    const serving = doctor();
    assert.doesNotMatch(serving, /^error/m);
    assert.match(serving, /^ok +port .* this coordinator serves$/m);
    assert.match(serving, /^ok +data directory .* is private$/m);
    coordinator.run('systemctl', 'stop', 'everynode-coordinator');
    const listen = "require('net').createServer().listen(6443)";
    coordinator.run('systemd-run', '--unit=other', '/usr/local/bin/node', '-e', listen);
    await untilPasses(() => assert.match(doctor(), /^error +port .* address already in use/m));
    assert.throws(() => coordinator.run(...EVERYNODE, 'coordinator', 'install'), /address already in use/);
    coordinator.run('systemctl', 'stop', 'other');
    coordinator.run(...EVERYNODE, 'coordinator', 'install');
    assert.doesNotMatch(doctor(), /^error/m);
  });

  law('a wrong key hash, a script from another coordinator or a wrong token installs nothing', async () => {
    const [host] = members;
    assert.ok(host);
    const wrongKey = line.replace(/sha256\/\/[^']+/, `sha256//${'A'.repeat(43)}=`);
    host.run('sh', '-c', wrongKey.replace('sudo ', ''));
    const wrongToken = line.replace(/TOKEN=[^;]+/, `TOKEN=aaaaaa.bbbbbbbbbbbbbbbb.${'0'.repeat(64)}`);
    assert.throws(() => host.run('sh', '-c', wrongToken.replace('sudo ', '')), /authority/);
    assert.equal(
      host.run('find', '/etc/systemd/system', '/usr/local/bin', '-name', 'everynode-agent*.service'),
      '',
    );
  });

  law('a bare host is a node within seconds of the join command', async (say) => {
    for (const host of members) {
      const from = performance.now();
      install(host, '--labels', 'color=green');
      await untilPasses(
        () => assert.match(kubectl('get', 'nodes'), new RegExp(`${host.name} +Ready`)),
        PATIENCE_MS,
      );
      say(`${host.engine}: ${Math.round(performance.now() - from)} ms from the line to Ready`);
      install(host);
    }
    writeFileSync(join(folder, 'daemon-sets.yaml'), DAEMON_SETS);
    coordinator.copyIn(join(folder, 'daemon-sets.yaml'), '/root/daemon-sets.yaml');
    kubectl('apply', '-f', '/root/daemon-sets.yaml');
    await everywhere();
  });

  law("the units pass systemd's checks with their stated hardening", async () => {
    for (const { host, unit } of bothUnits()) {
      const path = `/etc/systemd/system/${unit}.service`;
      assert.equal(host.run('sh', '-c', `systemd-analyze verify ${path} 2>&1`), '');
      assert.equal(host.run('systemctl', 'show', '-P', 'LimitCORE', unit), '0');
      const exposure = /([\d.]+) with them/.exec(host.run('cat', path))?.[1];
      assert.match(
        host.run('systemd-analyze', 'security', '--no-pager', unit),
        new RegExp(`exposure level for ${unit}.service: ${exposure} `),
      );
    }
  });

  law('all Pods run after a reboot and after a power cut of all hosts at once', async () => {
    for (const host of members) await host.reboot();
    await coordinator.reboot();
    await everywhere();
    for (const host of [coordinator, ...members]) host.cutPower();
    for (const host of [coordinator, ...members]) await host.restorePower();
    await everywhere();
    await versionsAre('0.1.0');
  });

  law('a DaemonSet upgrades the agents and changes no container', async () => {
    const before = members.map(containersOf);
    coordinator.run(...EVERYNODE, 'release', 'add', '/opt/everynode/dist/hosts/0.2.0');
    kubectl('-n', 'kube-system', 'set', 'image', 'ds/everynode-agent', 'agent=everynode.dev/agent:0.2.0');
    await versionsAre('0.2.0');
    kubectl('-n', 'kube-system', 'rollout', 'status', 'ds/everynode-agent', '--timeout=60s');
    assert.deepEqual(members.map(containersOf), before);
  });

  law('no host switches to a version below the floor, even if it is on its disk', async () => {
    const before = members.map(containersOf);
    coordinator.run(...EVERYNODE, 'release', 'floor', '0.2.0');
    kubectl('-n', 'kube-system', 'set', 'image', 'ds/everynode-agent', 'agent=everynode.dev/agent:0.1.0');
    await untilPasses(() => {
      assert.match(kubectl('-n', 'kube-system', 'get', 'events'), /agent 0\.1\.0 is older than 0\.2\.0/);
    }, TRIAL_MS);
    for (const host of members) {
      const versions = '/var/lib/everynode-agent/versions';
      assert.equal(host.run('readlink', `${versions}/current`), '0.2.0');
    }
    assert.throws(
      () => coordinator.run(...EVERYNODE, 'release', 'add', '/opt/everynode/dist/hosts/0.1.0'),
      /older than 0\.2\.0/,
    );
    kubectl('-n', 'kube-system', 'set', 'image', 'ds/everynode-agent', 'agent=everynode.dev/agent:0.2.0');
    kubectl('-n', 'kube-system', 'rollout', 'status', 'ds/everynode-agent', '--timeout=120s');
    coordinator.run(...EVERYNODE, 'release', 'floor', '0.0.0');
    await versionsAre('0.2.0');
    assert.deepEqual(members.map(containersOf), before);
  });

  law('a host reverts a version that hangs, and its rollout is rolled back', async () => {
    const before = members.map(containersOf);
    coordinator.run(...EVERYNODE, 'release', 'add', '/opt/everynode/dist/hosts/0.3.0');
    kubectl('-n', 'kube-system', 'set', 'image', 'ds/everynode-agent', 'agent=everynode.dev/agent:0.3.0');
    await untilPasses(() => {
      assert.match(kubectl('-n', 'kube-system', 'get', 'rollouts', '--no-headers'), /RolledBack/);
    }, TRIAL_MS);
    await untilPasses(() => {
      // Ask the hosts themselves: the API shows the last reported status even if the agent hangs.
      for (const host of members) {
        const versions = '/var/lib/everynode-agent/versions';
        assert.equal(host.run('readlink', `${versions}/current`, `${versions}/proven`), '0.2.0\n0.2.0');
      }
      const ready = kubectl('-n', 'kube-system', 'get', 'pods', '--no-headers');
      assert.equal(ready.match(/ 1\/1 +Running /g)?.length, members.length, ready);
    }, TRIAL_MS);
    await versionsAre('0.2.0');
    assert.deepEqual(members.map(containersOf), before);
  });

  law('systemd restarts a program that hangs, and containers keep running', async () => {
    const before = members.map(containersOf);
    for (const { host, unit } of bothUnits()) {
      const dropIn = `/etc/systemd/system/${unit}.service.d/watchdog.conf`;
      host.write(dropIn, '[Service]\nWatchdogSec=20\nTimeoutAbortSec=5\n');
      host.run('systemctl', 'daemon-reload');
      host.run('systemctl', 'restart', unit);
      const pid = () => host.run('systemctl', 'show', '-P', 'MainPID', unit);
      const hung = pid();
      // Simulates an endless loop: the program stops sending watchdog messages.
      host.run('kill', '-STOP', hung);
      await untilPasses(() => {
        assert.notEqual(pid(), hung);
        assert.equal(host.run('systemctl', 'is-active', unit), 'active');
      }, TRIAL_MS);
      assert.match(host.run('journalctl', '-u', unit, '-n', '100', '--no-pager'), /Watchdog timeout/);
      host.run('rm', dropIn);
      host.run('systemctl', 'daemon-reload');
      host.run('systemctl', 'restart', unit);
    }
    await everywhere();
    await versionsAre('0.2.0');
    assert.deepEqual(members.map(containersOf), before);
  });

  law("the backup reverts a newer coordinator with a changed database, by the README's steps", async () => {
    const data = '/var/lib/everynode';
    kubectl('create', 'configmap', 'before', '--from-literal=a=1');
    const output = coordinator.run(...EVERYNODE, 'coordinator', 'install');
    const backup = /backup: (\S+)/.exec(output)?.[1] ?? '';
    kubectl('create', 'configmap', 'later', '--from-literal=a=1');
    const containers = members.map(containersOf);
    coordinator.run('systemctl', 'stop', 'everynode-coordinator');
    // Changes the database in a way that only a later version can read.
    const script = `require('/opt/everynode/node_modules/better-sqlite3')('${data}/everynode.db').pragma('user_version = 999')`;
    coordinator.run('runuser', '-u', 'everynode', '--', '/usr/local/bin/node', '-e', script);
    assert.throws(() => coordinator.run(...EVERYNODE, 'coordinator', 'install'), /journalctl/);
    const log = coordinator.run('journalctl', '-u', 'everynode-coordinator', '-n', '20', '--no-pager');
    assert.match(log, /written by a newer version: install that version/);
    coordinator.run('systemctl', 'stop', 'everynode-coordinator');
    coordinator.run(...EVERYNODE, 'restore', backup, '--data', data, '--replace');
    coordinator.run(...EVERYNODE, 'coordinator', 'install');
    await untilPasses(() => {
      assert.equal(kubectl('get', 'configmap', 'before', '-o', 'name'), 'configmap/before');
      assert.match(kubectl('get', 'nodes', '--no-headers'), /^h1 +Ready .*\nh2 +Ready /);
    }, TRIAL_MS);
    assert.throws(() => kubectl('get', 'configmap', 'later'), /NotFound/);
    coordinator.run(...EVERYNODE, 'confirm-restore', '--data', data);
    await everywhere();
    assert.deepEqual(members.map(containersOf), containers);
  });

  law(
    'a revoked host is disconnected within seconds and stays out, and its containers keep running',
    async (say) => {
      const [, host] = members;
      assert.ok(host);
      const jsonpath = '{.status.conditions[?(@.type=="Connected")].status}';
      const connected = () => kubectl('get', 'node', host.name, '-o', `jsonpath=${jsonpath}`);
      await untilPasses(() => assert.equal(connected(), 'True'), PATIENCE_MS);
      const before = containersOf(host);
      coordinator.run(...EVERYNODE, 'node', 'revoke', host.name, '--data', '/var/lib/everynode');
      const from = performance.now();
      await untilPasses(() => assert.equal(connected(), 'False'), PATIENCE_MS);
      say(`shown as disconnected ${Math.round(performance.now() - from)} ms after the word`);
      host.run('systemctl', 'restart', 'everynode-agent');
      await untilPasses(() => {
        const who = ['--user', `system:node:${host.name}`, '--verb', 'connect', '--code', '401'];
        assert.notEqual(coordinator.run(...EVERYNODE, 'audit', ...who, '--data', '/var/lib/everynode'), '');
      }, PATIENCE_MS);
      assert.equal(connected(), 'False');
      assert.deepEqual(containersOf(host), before);
    },
  );

  law('an uninstall leaves nothing on the hosts', async (say) => {
    for (const host of members) {
      const running = containersOf(host);
      assert.throws(() => host.run('everynode-agent', 'uninstall'), /on this host: pass --yes/);
      assert.deepEqual(containersOf(host), running);
      const from = performance.now();
      host.run('everynode-agent', 'uninstall', '--yes', '--purge');
      say(`${host.engine}: uninstalled in ${Math.round(performance.now() - from)} ms`);
    }
    coordinator.run(...EVERYNODE, 'coordinator', 'uninstall', '--purge');
    // Files that this test itself created.
    coordinator.run('rm', '-r', '/root/daemon-sets.yaml', '/tmp/kube-cache');
    for (const host of [coordinator, ...members]) {
      const [before, now] = [found.get(host), takeHostSnapshot(host)];
      const files = new Set(before?.files);
      assert.deepEqual(
        now.files.filter((path) => !files.has(path)),
        [],
        `${host.name}: files`,
      );
      assert.deepEqual(now.others, before?.others, `${host.name}: all else`);
      assert.doesNotMatch(host.run('ps', '-eo', 'args'), /everynode-(agent|coordinator)/);
    }
  });
});
