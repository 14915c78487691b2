/** `examples/coordinators/`: the files fit together, the product reads the settings, and etcd accepts the flags. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { COORDINATOR_SETTINGS } from '../../../coordinator/coordinator-settings.js';
import { loadSettings } from '../../../shared/process/settings/settings-schema.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const FOLDER = resolve('examples/coordinators');
const UNIT = join(FOLDER, 'everynode-etcd.service');
const text = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** The variables of the environment file. */
function variables(): Map<string, string> {
  const lines = text('etcd.env').split('\n');
  const pairs = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/=(.*)/s));
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

/** The flags of etcd with the variables of the environment file. */
function etcdFlags(): Map<string, string> {
  const command = /^ExecStart=\S+ (.*?[^\\])$/ms.exec(text('everynode-etcd.service'))?.[1] ?? '';
  const filled = command.replace(/\$\{(\w+)\}/g, (_, name: string) => variables().get(name) ?? `no ${name}`);
  const flags = [...filled.matchAll(/--([\w-]+)(?:=(\S+))?/g)];
  return new Map(flags.map(([, name = '', value = 'true']) => [name, value]));
}

test('each variable of the unit is in the environment file, and its name is none of etcd', () => {
  const used = [...text('everynode-etcd.service').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? '');
  assert.deepEqual([...new Set(used)].sort(), [...variables().keys()].sort());
  // etcd refuses to start if a variable and a flag set the same value.
  assert.deepEqual(
    used.filter((name) => name.startsWith('ETCD_')),
    [],
  );
});

test('the member of etcd is one of its cluster and accepts only certificates of the authority', () => {
  const flags = etcdFlags();
  const members = new Map(
    (flags.get('initial-cluster') ?? '').split(',').map((each) => each.split(/=(.*)/s) as [string, string]),
  );
  assert.equal(members.size, 3);
  assert.equal(members.get(flags.get('name') ?? ''), flags.get('initial-advertise-peer-urls'));
  assert.equal(flags.get('client-cert-auth'), 'true');
  assert.equal(flags.get('peer-client-cert-auth'), 'true');
});

test('a coordinator reads its example settings, which name the members of etcd', async () => {
  const file = join(FOLDER, 'coordinator.yaml');
  const settings = await loadSettings(COORDINATOR_SETTINGS, {
    ...{ flags: {}, environment: {}, environmentPrefix: 'X', file },
  });
  const hosts = settings.etcd?.split(',').map((url) => new URL(url).hostname);
  const members = (etcdFlags().get('initial-cluster') ?? '')
    .split(',')
    .map((each) => new URL(each.split(/=(.*)/s)[1] ?? '').hostname);
  assert.deepEqual(hosts, members);
  assert.equal(settings.etcdCa, etcdFlags().get('trusted-ca-file'));
});

test('systemd accepts the unit of etcd', (context) => {
  if (!existsSync('/usr/bin/etcd')) return leaveOut(context, 'the unit of etcd', 'etcd is not installed');
  const { stdout, stderr, error } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
  if (error) return leaveOut(context, 'the unit of etcd', 'systemd-analyze is not installed');
  assert.equal(stdout + stderr, '');
});

test('the script makes certificates of one authority with the address of each machine', (context) => {
  const cwd = temporaryDirectory();
  const script = join(FOLDER, 'etcd-certificates.sh');
  const run = (...machines: string[]) => spawnSync(script, machines, { cwd, encoding: 'utf8' });
  if (spawnSync('openssl', ['version']).error)
    return leaveOut(context, 'certificates of etcd', 'openssl is not installed');
  const first = run('one=192.0.2.11', 'two=etcd-2.example.com', 'three=2001:db8::1');
  assert.equal(first.status, 0, first.stderr);
  // A later run adds a machine under the same authority.
  assert.equal(run('four=192.0.2.14').status, 0);
  const certificate = (path: string) => new X509Certificate(readFileSync(join(cwd, path)));
  const ca = certificate('ca.crt');
  for (const name of ['one', 'two', 'three', 'four']) {
    for (const kind of ['server', 'client']) {
      const issued = certificate(`${name}/${kind}.crt`);
      assert.ok(issued.verify(ca.publicKey), `${name}/${kind}`);
      assert.ok(issued.checkPrivateKey(createPrivateKey(readFileSync(join(cwd, name, `${kind}.key`)))));
      assert.equal(statSync(join(cwd, name, `${kind}.key`)).mode & 0o077, 0);
    }
  }
  assert.ok(certificate('one/server.crt').checkIP('192.0.2.11'));
  assert.ok(certificate('two/server.crt').checkHost('etcd-2.example.com'));
  assert.ok(certificate('three/server.crt').checkIP('2001:db8::1'));
});

test('the script refuses a machine without an address and writes nothing', () => {
  const cwd = temporaryDirectory();
  const { status, stderr } = spawnSync(join(FOLDER, 'etcd-certificates.sh'), ['one'], {
    cwd,
    encoding: 'utf8',
  });
  assert.equal(status, 2);
  assert.match(stderr, /"one" is not of the form NAME=ADDRESS/);
  assert.equal(existsSync(join(cwd, 'ca.key')), false);
});
