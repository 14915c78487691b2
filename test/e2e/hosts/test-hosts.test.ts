/**
 * The hosts of the end-to-end tests behave like real hosts: they boot, run containers with limits, reboot, and lose
 * power.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { type TestHost, TestHosts } from '../../harness/hosts/test-hosts.js';
import { UNIT_DATA, UNIT_HOST_PATH } from '../../harness/pods/unit-volumes.js';

const TREE = process.cwd();

/** The hardening options of the agent's systemd unit. */
function hardening(): string[] {
  const text = readFileSync('systemd/everynode-agent.service', 'utf8');
  return text
    .split('\n')
    .filter((line) => /^(UMask|NoNew|Lock|Protect|Restrict|SystemCall|Capab)/.test(line));
}
const RUN = [
  'run',
  '--rm',
  '--memory',
  '32m',
  '--network',
  'host',
  '--entrypoint',
  '/bin/busybox',
  'docker.io/library/app:1',
  'echo',
  'hello',
];

describe('test hosts behave like machines', { concurrency: 1 }, () => {
  let opened: TestHosts | string;
  const started = new Map<EngineKind, TestHost>();

  before(async () => {
    opened = await TestHosts.open();
  });
  after(async () => {
    if (typeof opened !== 'string') await opened.stop();
  });

  for (const kind of ['docker', 'podman'] as const) {
    test(`a host with ${kind} boots and runs a container with a memory limit`, async (context) => {
      if (typeof opened === 'string') return leaveOut(context, 'hosts with systemd', opened);
      const from = Date.now();
      const host = await opened.start(`${kind}-host`, kind, TREE);
      context.diagnostic(`booted in ${Date.now() - from} ms`);
      started.set(kind, host);
      await host.loadImages(['app:1']);
      assert.equal(host.run(kind, ...RUN), 'hello');
      assert.match(host.run('node', '--version'), /^v\d+/);
      assert.match(host.address, /^198\.19\./);
    });
  }

  for (const kind of ['docker', 'podman'] as const) {
    test(`an agent with its unit's hardening mounts a subPath where ${kind} finds it`, (context) => {
      const host = started.get(kind);
      if (!host) return leaveOut(context, 'the unit of the agent', String(opened));
      const socket = kind === 'docker' ? '/run/docker.sock' : '/run/podman/podman.sock';
      const program = [
        '/usr/local/bin/node',
        '/opt/everynode/dist/test/harness/pods/unit-volumes.js',
        socket,
      ];
      const unit = hardening().flatMap((line) => ['-p', line]);
      const asAgent = (what: string) =>
        host.run('systemd-run', '--wait', '--pipe', '--quiet', ...unit, ...program, what);
      host.write(`${UNIT_HOST_PATH}/p/file`, 'of the volume');
      const place = asAgent('make');
      assert.ok(place.startsWith(`${UNIT_DATA}/sub-paths/`), place);
      const cat = ['run', '--rm', '--network', 'host', '-v', `${place}:/v`, '--entrypoint', '/bin/busybox'];
      assert.equal(host.runEngine(...cat, 'docker.io/library/app:1', 'cat', '/v/file'), 'of the volume');
      asAgent('remove');
      assert.doesNotMatch(host.run('cat', '/proc/1/mountinfo'), /unit-volumes/);
      assert.equal(host.run('cat', `${UNIT_HOST_PATH}/p/file`), 'of the volume');
    });
  }

  test('a test host reboots, and returns after a power cut', async (context) => {
    const host = started.get('docker');
    if (!host) return leaveOut(context, 'hosts with systemd', String(opened));
    const boot = () => host.run('cat', '/proc/1/stat').split(' ')[21];
    const first = boot();
    const from = Date.now();
    await host.reboot();
    context.diagnostic(`rebooted in ${Date.now() - from} ms`);
    const second = boot();
    assert.notEqual(second, first);
    host.cutPower();
    await host.restorePower();
    assert.notEqual(boot(), second);
    assert.equal(host.run('docker', ...RUN), 'hello');
  });

  test('a test host that is cut off reaches no other host until it is reconnected', (context) => {
    const host = started.get('docker');
    if (!host) return leaveOut(context, 'hosts with systemd', String(opened));
    const route = () => host.run('sh', '-c', 'ip route show default');
    assert.match(route(), /via/);
    host.disconnect();
    assert.equal(route(), '');
    host.connect();
    assert.match(route(), /via/);
  });
});
