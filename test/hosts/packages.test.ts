/**
 * The artefacts of `npm run release` on hosts with systemd: `.deb` and `.rpm` of both programs, the images, and the
 * air-gapped bundle. Run it by `npm run hosts`. It builds two releases, which takes minutes, so it is not part of
 * `npm test`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { untilPasses } from '../harness/basics/wait-until.js';
import { findKubectl } from '../harness/clients/kubectl.js';
import { UNITS_OF_TESTS } from '../harness/hosts/host-units.js';
import { type TestHost, TestHosts } from '../harness/hosts/test-hosts.js';
import { APP } from './app-daemonset.js';
import { copyDebianTools, RPM_TOOLS } from './debian-tools.js';
import { type HostSnapshot, takeHostSnapshot } from './host-snapshot.js';
import { ARCHITECTURE, makeRelease } from './make-releases.js';

const KUBECONFIG = '/var/lib/everynode/kubeconfig';
const PATIENCE_MS = 60_000;
/** /lib is a link to /usr/lib. */
const OF_PACKAGE = /^(\/usr)?\/lib\/systemd\/system\//;

describe('packages, images and the bundle on bare hosts', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-packages-'));
  /** A folder with the releases 0.1.0 and 0.2.0, to test exactly these. */
  const { EVERYNODE_TEST_RELEASES: given } = process.env;
  const releases = given ?? folder;
  let why: string | undefined;
  let hosts: TestHosts;
  /** Has the coordinator, by the air-gapped bundle. */
  let center: TestHost;
  /** Installs the agent as `.deb` and as `.rpm`. */
  let debian: TestHost;
  let redHat: TestHost;
  const found = new Map<TestHost, HostSnapshot>();

  before(async () => {
    const opened = await TestHosts.open();
    if (typeof opened === 'string') {
      why = opened;
      return;
    }
    hosts = opened;
    const key = join(folder, 'key.pem');
    if (given === undefined) {
      makeRelease(join(folder, '0.1.0'), key, '0.1.0', []);
      makeRelease(join(folder, '0.2.0'), key, '0.2.0', ['packages']);
    }
    const volumes = [`${releases}:/releases:ro`];
    center = await hosts.start('center', 'docker', undefined, volumes);
    debian = await hosts.start('debian', 'docker', undefined, volumes);
    redHat = await hosts.start('redhat', 'podman', undefined, volumes);
    copyDebianTools(redHat, RPM_TOOLS);
    redHat.run('rpm', '-qa');
    center.copyIn(findKubectl(), '/usr/local/bin/kubectl');
    for (const host of [center, debian, redHat]) {
      for (const [path, text] of UNITS_OF_TESTS) host.write(path, text);
      if (host !== center) await host.loadImages(['app:1']);
      found.set(host, takeHostSnapshot(host));
    }
  });
  after(async () => {
    if (why === undefined) await hosts.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const law = (rule: string, body: () => Promise<void> | void): void => {
    test(rule, async (context) => {
      if (why === undefined) await body();
      else leaveOut(context, 'packages on three hosts with systemd', why);
    });
  };
  const kubectl = (...args: string[]): string =>
    center.run('kubectl', '--cache-dir', '/tmp/kube-cache', '--kubeconfig', KUBECONFIG, ...args);
  const file = (program: string, version: string, suffix: string): string =>
    `/releases/${version}/everynode-${program}-${version}-linux-${ARCHITECTURE}.${suffix}`;
  const show = (host: TestHost, unit: string, property: string): string =>
    host.run('systemctl', 'show', '-P', property, unit);
  const containersOf = (host: TestHost): string =>
    host.runEngine('ps', '-q', '--no-trunc', '--filter', 'label=everynode.dev/container=app');
  const versionIs = (host: TestHost, version: string): Promise<void> =>
    untilPasses(() => {
      assert.match(
        kubectl('get', 'nodes', '--no-headers'),
        new RegExp(`^${host.name} +Ready .* v${version}$`, 'm'),
      );
    }, PATIENCE_MS);
  const join_ = (host: TestHost): void => {
    const made = center.run('everynode', 'token', 'create', '--data', '/var/lib/everynode');
    const token = /\b[a-z0-9]{6}\.[a-z0-9]{16}\.[0-9a-f]{64}\b/.exec(made)?.[0] ?? assert.fail(made);
    host.write('/run/everynode-token', token);
    const flags = ['--server', `https://${center.address}:6443`, '--token-file', '/run/everynode-token'];
    host.run('/usr/bin/everynode-agent', 'install', ...flags);
    host.run('rm', '/run/everynode-token');
  };
  /** Compares with the state before the installation, without what the package managers record. */
  const nothingIsLeft = (host: TestHost): void => {
    const isRecord = /^\/(var\/lib\/(dpkg|rpm)|root\/\.rpmdb)(\/|$)/;
    const paths = ({ files, others }: HostSnapshot) =>
      new Set([...files.filter((path) => !isRecord.test(path)), ...others]);
    const [before, now] = [paths(found.get(host) ?? assert.fail()), paths(takeHostSnapshot(host))];
    const added = [...now].filter((each) => !before.has(each));
    const removed = [...before].filter((each) => !now.has(each));
    assert.deepEqual({ added, removed }, { added: [], removed: [] }, host.name);
  };

  law('one command installs the coordinator from the bundle, without a network', () => {
    center.run('tar', '-xf', '/releases/0.1.0/everynode-0.1.0-offline.tar', '-C', '/root');
    const output = center.run('/root/everynode-0.1.0-offline/install', '--advertise', center.address);
    assert.match(output, /Release 0\.1\.0 added[\s\S]*Run on each host within 24 hours/);
    assert.equal(center.run('systemctl', 'is-active', 'everynode-coordinator'), 'active');
    assert.match(show(center, 'everynode-coordinator', 'FragmentPath'), OF_PACKAGE);
    assert.notEqual(show(center, 'everynode-coordinator', 'User'), 'root');
  });

  law('a changed file in the bundle is refused, and nothing is installed', () => {
    debian.run('tar', '-xf', '/releases/0.1.0/everynode-0.1.0-offline.tar', '-C', '/root');
    debian.run('sh', '-c', 'echo "# changed" >> /root/everynode-0.1.0-offline/README.md');
    const install = () => debian.run('/root/everynode-0.1.0-offline/install', '--advertise', debian.address);
    assert.throws(install, /the archive is damaged; nothing was changed/);
    debian.run('rm', '-r', '/root/everynode-0.1.0-offline');
    nothingIsLeft(debian);
  });

  law('a package neither starts nor enables the agent before it is configured', () => {
    debian.run('dpkg', '--install', file('agent', '0.1.0', 'deb'));
    redHat.run('rpm', '--install', '--nodeps', file('agent', '0.1.0', 'rpm'));
    for (const host of [debian, redHat]) {
      assert.equal(show(host, 'everynode-agent', 'ActiveState'), 'inactive');
      assert.equal(show(host, 'everynode-agent', 'UnitFileState'), 'disabled');
      host.run('sh', '-c', '! test -e /var/lib/everynode-agent && ! test -e /etc/everynode');
    }
  });

  law('a host with the package joins, and runs a DaemonSet', async () => {
    center.write('/root/app.yaml', APP);
    kubectl('apply', '-f', '/root/app.yaml');
    for (const host of [debian, redHat]) {
      join_(host);
      await versionIs(host, '0.1.0');
      assert.match(show(host, 'everynode-agent', 'FragmentPath'), OF_PACKAGE);
      await untilPasses(() => assert.notEqual(containersOf(host), ''), PATIENCE_MS);
    }
  });

  law('an upgrade and a downgrade of the agent change no container and keep its settings', async () => {
    const before = [debian, redHat].map(containersOf);
    for (const version of ['0.2.0', '0.1.0']) {
      debian.run('dpkg', '--install', file('agent', version, 'deb'));
      redHat.run('rpm', '--upgrade', '--oldpackage', '--nodeps', file('agent', version, 'rpm'));
      for (const host of [debian, redHat]) await versionIs(host, version);
    }
    assert.deepEqual([debian, redHat].map(containersOf), before);
  });

  law(
    'an upgrade of the coordinator takes a backup, keeps data and settings, and can be taken back',
    async () => {
      kubectl('create', 'configmap', 'kept', '--from-literal=a=1');
      center.run('sh', '-c', 'echo "logLevel: debug" >> /etc/everynode/coordinator.yaml');
      for (const version of ['0.2.0', '0.1.0']) {
        center.run('dpkg', '--install', file('coordinator', version, 'deb'));
        assert.match(center.run('everynode', 'version'), new RegExp(`^everynode ${version} `));
        await untilPasses(
          () => assert.equal(kubectl('get', 'configmap', 'kept', '-o', 'name'), 'configmap/kept'),
          PATIENCE_MS,
        );
      }
      const backups = center.run(
        'find',
        '/var/lib/everynode/backups',
        '-name',
        'manual-*',
        '-user',
        'everynode',
      );
      assert.equal(backups.split('\n').length, 2);
      assert.match(center.run('cat', '/etc/everynode/coordinator.yaml'), /logLevel: debug/);
      for (const host of [debian, redHat]) await versionIs(host, '0.1.0');
    },
  );

  law(
    'a removal keeps data and containers, and the same host continues after a new installation',
    async () => {
      const before = [debian, redHat].map(containersOf);
      debian.run('dpkg', '--remove', 'everynode-agent');
      redHat.run('rpm', '--erase', 'everynode-agent');
      for (const host of [debian, redHat]) {
        assert.equal(show(host, 'everynode-agent', 'LoadState'), 'not-found');
        host.run(
          'test',
          '-e',
          '/var/lib/everynode-agent/identity.json',
          '-o',
          '-d',
          '/var/lib/everynode-agent/versions',
        );
      }
      assert.deepEqual([debian, redHat].map(containersOf), before);
      debian.run('dpkg', '--install', file('agent', '0.1.0', 'deb'));
      redHat.run('rpm', '--install', '--nodeps', file('agent', '0.1.0', 'rpm'));
      for (const host of [debian, redHat]) {
        host.run('/usr/bin/everynode-agent', 'install');
        await versionIs(host, '0.1.0');
      }
      assert.deepEqual([debian, redHat].map(containersOf), before);
    },
  );

  law('a purge leaves nothing on the hosts', async () => {
    debian.run('dpkg', '--purge', 'everynode-agent');
    redHat.run('/usr/bin/everynode-agent', 'uninstall', '--purge', '--yes');
    redHat.run('rpm', '--erase', 'everynode-agent');
    for (const host of [debian, redHat]) nothingIsLeft(host);
    center.run('dpkg', '--remove', 'everynode');
    center.run('test', '-f', '/var/lib/everynode/everynode.db');
    center.run('dpkg', '--purge', 'everynode');
    center.run('rm', '-r', '/root/everynode-0.1.0-offline', '/root/app.yaml', '/tmp/kube-cache');
    nothingIsLeft(center);
  });

  law('the images run as a coordinator without root, and as an agent', async () => {
    const address = debian.address;
    for (const host of [debian, redHat]) {
      for (const program of ['coordinator', 'agent'])
        host.run('sh', '-c', `${host.engine} load < ${file(program, '0.1.0', 'oci.tar')}`);
      const flags = [
        '--read-only',
        '--tmpfs',
        '/tmp',
        '--cap-drop',
        'ALL',
        '--security-opt',
        'no-new-privileges',
      ];
      const name = ['--name', 'coordinator', '-p', '6443:6443', '-e', `EVERYNODE_ADVERTISE=${host.address}`];
      host.runEngine('run', '-d', ...name, ...flags, 'everynode.dev/coordinator:0.1.0');
      const health = `curl -fsk https://127.0.0.1:6443/readyz`;
      await untilPasses(() => assert.equal(host.run('sh', '-c', health), 'ok'), PATIENCE_MS);
      assert.match(host.runEngine('top', 'coordinator'), /^(65532|everynode) /m);
    }
    const made = debian.runEngine('exec', 'coordinator', '/usr/bin/everynode', 'token', 'create');
    const token = /\b[a-z0-9]{6}\.[a-z0-9]{16}\.[0-9a-f]{64}\b/.exec(made)?.[0] ?? assert.fail(made);
    const mounts = [
      '-v',
      '/var/run/docker.sock:/var/run/docker.sock',
      '-v',
      '/var/lib/everynode-agent:/var/lib/everynode-agent',
    ];
    const settings = [
      '-e',
      `EVERYNODE_TOKEN=${token}`,
      '--network',
      'host',
      '--pid',
      'host',
      '--cap-add',
      'NET_ADMIN',
    ];
    const image = [
      'everynode.dev/agent-container:0.1.0',
      '--server',
      `https://${address}:6443`,
      '--node-name',
      'contained',
    ];
    debian.runEngine('run', '-d', '--name', 'agent', ...mounts, ...settings, ...image);
    debian.run('docker', 'cp', 'coordinator:/var/lib/everynode/kubeconfig', '/root/kubeconfig');
    debian.copyIn(findKubectl(), '/root/kubectl');
    await untilPasses(() => {
      const nodes = debian.run(
        '/root/kubectl',
        '--kubeconfig',
        '/root/kubeconfig',
        'get',
        'nodes',
        '--no-headers',
      );
      assert.match(nodes, /^contained +Ready /m);
    }, PATIENCE_MS);
  });
});
