/** The scripts of the packages, in a folder instead of `/` and with recorded system commands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { lockDataDir } from '../../../agent/program/agent-data-directory.js';
import { acquireDataLock } from '../../../coordinator/store/data-files.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

type Scripts = Record<'postinst' | 'prerm' | 'postrm', string>;
type Package = (options: object, program: unknown) => { about: { debScripts: Scripts } };
const UNIT = { coordinator: 'everynode-coordinator.service', agent: 'everynode-agent.service' };
const DATA = { coordinator: '/var/lib/everynode', agent: '/var/lib/everynode-agent' };
type Program = keyof typeof UNIT;
const PROGRAMS = ['coordinator', 'agent'] as const;

let scripts: Record<Program, Scripts>;

before(async () => {
  const contents: Record<'coordinatorPackage' | 'agentPackage', Package> = await import(
    pathToFileURL(resolve('release/package-contents.mjs')).href
  );
  const options = { root: resolve('.'), manPages: () => [] };
  scripts = {
    coordinator: contents.coordinatorPackage(options, new Map()).about.debScripts,
    agent: contents.agentPackage(options, '/bin/true').about.debScripts,
  };
});

/** A machine with systemd. Its files are below a temporary folder, and its commands only record their arguments. */
class Machine {
  readonly #root = temporaryDirectory();

  constructor() {
    mkdirSync(join(this.#root, 'run/systemd/system'), { recursive: true });
    for (const name of ['systemctl', 'getent', 'useradd', 'userdel', 'runuser', 'chown'])
      this.write(`/bin/${name}`, `#!/bin/sh\necho "${name} $*" >>'${this.path('/commands')}'\n`, 0o755);
  }

  path(path: string): string {
    return join(this.#root, path);
  }

  write(path: string, text = 'x', mode = 0o644): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
    chmodSync(this.path(path), mode);
  }

  has(path: string): boolean {
    return existsSync(this.path(path));
  }

  commands(): string {
    return this.has('/commands') ? readFileSync(this.path('/commands'), 'utf8') : '';
  }

  run(script: string, step: string): { code: number | null; errors: string } {
    const here = script
      .replaceAll(/(?<![\w/])\/(var|etc|run)\//g, `${this.path('/$1')}/`)
      .replace('/proc/self/mountinfo', this.has('/mounts') ? this.path('/mounts') : '$&');
    assert.ok(here.includes(this.path('/')), 'the script must not touch the files of this machine');
    const env = { PATH: `${this.path('/bin')}:${process.env.PATH}` };
    const { status, stderr } = spawnSync('sh', ['-c', here, 'script', step], { env, encoding: 'utf8' });
    return { code: status, errors: stderr };
  }
}

test('a purge removes data, settings and keys', () => {
  const machine = new Machine();
  for (const path of ['everynode/everynode.db', 'everynode/lock', 'everynode-agent/identity.json'])
    machine.write(`/var/lib/${path}`);
  for (const name of ['coordinator.yaml', 'agent.yaml', 'proxy.env', 'release.pub'])
    machine.write(`/etc/everynode/${name}`);
  for (const program of PROGRAMS)
    assert.deepEqual(machine.run(scripts[program].postrm, 'purge'), { code: 0, errors: '' });
  for (const path of ['/var/lib/everynode', '/var/lib/everynode-agent', '/etc/everynode'])
    assert.ok(!machine.has(path), path);
  assert.match(machine.commands(), /^userdel everynode$/m);
});

test("a purge removes an agent's containers by the agent's own program", () => {
  const machine = new Machine();
  const proven = '/var/lib/everynode-agent/versions/proven/everynode-agent';
  machine.write(proven, `#!/bin/sh\necho "agent $*" >>'${machine.path('/commands')}'\n`, 0o755);
  assert.equal(machine.run(scripts.agent.postrm, 'purge').code, 0);
  assert.match(machine.commands(), /^agent uninstall --purge --yes$/m);
});

test('a purge refuses to remove a disk that is mounted below the data', () => {
  const machine = new Machine();
  machine.write('/var/lib/everynode-agent/disk/file');
  const mount = machine.path('/var/lib/everynode-agent/disk');
  machine.write('/mounts', `30 1 8:1 / / rw - ext4 /dev/a rw\n31 30 8:2 / ${mount} rw - ext4 /dev/b rw\n`);
  const { code, errors } = machine.run(scripts.agent.postrm, 'purge');
  assert.equal(code, 1);
  assert.match(errors, /because .*\/disk is mounted: unmount it, then purge again/);
  assert.ok(machine.has('/var/lib/everynode-agent/disk/file'));
});

for (const program of PROGRAMS) {
  const unit = `/etc/systemd/system/${UNIT[program]}`;

  test(`a purge and a removal keep the ${program} of another installation`, () => {
    const machine = new Machine();
    machine.write(`${DATA[program]}/identity.json`);
    machine.write(`${DATA[program]}/versions/proven/everynode-agent`, '#!/bin/sh\nexit 9\n', 0o755);
    machine.write(`/etc/everynode/${program}.yaml`);
    machine.write(unit);
    for (const [script, step] of [
      [scripts[program].prerm, 'remove'],
      [scripts[program].postrm, 'purge'],
    ] as const) {
      const { code, errors } = machine.run(script, step);
      assert.equal(code, 0);
      if (step === 'purge') assert.match(errors, /kept .*: .* belongs to another installation/);
    }
    assert.ok(machine.has(`${DATA[program]}/identity.json`) && machine.has(`/etc/everynode/${program}.yaml`));
    assert.doesNotMatch(machine.commands(), /disable|stop|userdel/);
  });

  test(`a purge keeps the data of a running ${program}`, async () => {
    const machine = new Machine();
    const data = machine.path(DATA[program]);
    machine.write(`${DATA[program]}/identity.json`);
    const lock = program === 'agent' ? await lockDataDir(data) : acquireDataLock(data);
    const { code, errors } = machine.run(scripts[program].postrm, 'purge');
    lock.release();
    assert.equal(code, 0);
    assert.match(errors, /kept .*: an? (agent|coordinator) is using it/);
    assert.ok(machine.has(`${DATA[program]}/identity.json`));
  });

  test(`a removal stops the ${program} of the package, also if its unit is masked`, () => {
    const machine = new Machine();
    machine.write('/etc/systemd/system/other.service');
    symlinkSync('/dev/null', machine.path(unit));
    assert.equal(machine.run(scripts[program].prerm, 'remove').code, 0);
    assert.match(machine.commands(), new RegExp(`^systemctl disable --quiet --now ${UNIT[program]}$`, 'm'));
  });
}

test('the offline bundle runs the command of its package, with paths relative to the caller', () => {
  const machine = new Machine();
  const say = (name: string) => `#!/bin/sh\necho "${name} $PWD $*" >>'${machine.path('/commands')}'\n`;
  machine.write('/bin/id', '#!/bin/sh\necho 0\n', 0o755);
  machine.write('/bin/everynode', say('npm'), 0o755);
  machine.write('/bin/dpkg', say('dpkg'), 0o755);
  machine.write('/usr/bin/everynode', say('packaged'), 0o755);
  const script = readFileSync('release/packaging/install-offline.sh', 'utf8');
  const text = script.replaceAll('@VERSION@', '1.2.3').replace('/usr/bin/', machine.path('/usr/bin/'));
  machine.write('/bundle/install', text, 0o755);
  machine.write('/bundle/SHA256SUMS', `${createHash('sha256').update(text).digest('hex')}  install\n`);
  mkdirSync(machine.path('/caller'));
  const env = { PATH: `${machine.path('/bin')}:${process.env.PATH}` };
  const options = { cwd: machine.path('/caller'), env, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('../bundle/install', ['--tls-cert-file', 'own.crt'], options);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const [caller, bundle] = [machine.path('/caller'), machine.path('/bundle')];
  const [installed, started, ...others] = machine.commands().trim().split('\n');
  const begin = `dpkg ${caller} --install ${bundle}/everynode-coordinator-1.2.3-linux-`;
  assert.ok(installed?.startsWith(begin), installed);
  assert.equal(
    started,
    `packaged ${caller} coordinator install --release ${bundle}/release --tls-cert-file own.crt`,
  );
  assert.deepEqual(others, []);
});

test('an installation and an upgrade need no settings file', () => {
  const machine = new Machine();
  assert.deepEqual(machine.run(scripts.coordinator.postinst, 'configure'), { code: 0, errors: '' });
  assert.match(machine.commands(), /^runuser -u everynode -- \/usr\/bin\/everynode backup /m);
  assert.match(machine.commands(), /^systemctl restart everynode-coordinator\.service$/m);
});
