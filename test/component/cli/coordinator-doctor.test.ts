/** `everynode doctor` as a user runs it: before the first start, while the coordinator serves, and with faults. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Finding } from '../../../shared/doctor/finding.js';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { accessOf } from '../../harness/console/browser.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

async function doctor(data: string, port: string | number, ...args: string[]) {
  const words = ['doctor', '--data', data, '--port', String(port), '--output', 'json', ...args];
  const { code: status, stdout } = await runEverynode(words);
  const findings = JSON.parse(stdout) as Finding[];
  const of = (check: string): Finding[] => findings.filter((finding) => finding.check === check);
  return { status, findings, of };
}

describe('everynode doctor before the first start', () => {
  test('nothing is wrong, and nothing is left behind', async () => {
    const parent = temporaryDirectory();
    const { status, findings } = await doctor(join(parent, 'data'), await freePort());
    assert.deepEqual([status, findings.filter(({ result }) => result === 'error')], [0, []]);
    assert.deepEqual(readdirSync(parent), []);
  });

  test('a port of another program is an error with a remedy, and an unknown name is a warning', async () => {
    const server = createServer();
    await new Promise<void>((done) => void server.listen(0, '0.0.0.0', done));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const found = await doctor(join(temporaryDirectory(), 'data'), port, '--advertise', 'nowhere.invalid');
    server.close();
    assert.equal(found.status, EXIT_CODES.environment);
    const [taken, name] = [found.of('port')[0], found.of('DNS')[0]];
    assert.deepEqual([taken?.result, name?.result], ['error', 'warning']);
    assert.match(taken && taken.result !== 'ok' ? taken.remedy : '', /ss -ltnp/);
  });

  test('an etcd reports version, latency and quota', async (context) => {
    const missing = missingEtcd();
    if (missing) return leaveOut(context, 'etcd in the doctor', missing);
    const etcd = await startEtcd();
    try {
      const endpoints = etcd.endpoints.join(',');
      const found = (await doctor(join(temporaryDirectory(), 'data'), 0, '--etcd', endpoints)).of('etcd');
      assert.equal(found.length, etcd.endpoints.length);
      for (const { found: text } of found)
        assert.match(text, /version 3\.\d+\.\d+, answered after \d+ ms, \d+ MiB of \d/);
    } finally {
      await etcd.stop();
    }
  });

  test('an etcd that does not run is an error', async () => {
    const etcd = `http://127.0.0.1:${await freePort()}`;
    const { status, of } = await doctor(join(temporaryDirectory(), 'data'), 0, '--etcd', etcd);
    assert.equal(status, EXIT_CODES.environment);
    assert.match(of('etcd')[0]?.found ?? '', /no program listens there/);
  });
});

describe('everynode doctor beside a coordinator', () => {
  const data = join(temporaryDirectory(), 'data');
  let coordinator: CoordinatorProcess;
  let port: string;
  before(async () => {
    coordinator = await startCoordinatorProcess(data);
    port = new URL(accessOf(coordinator.kubeconfig).server).port;
  });
  after(() => coordinator.end('SIGTERM'));

  test('its port is its own, its certificates are valid, and a backup is missing', async () => {
    const { status, of } = await doctor(data, port);
    assert.equal(status, 0);
    assert.match(of('port')[0]?.found ?? '', /this coordinator serves/);
    assert.deepEqual(
      of('certificate').map(({ result }) => result),
      ['ok', 'ok'],
    );
    assert.equal(of('backup')[0]?.found, 'there is none');
    assert.equal((await runEverynode(['backup', '--data', data])).code, 0);
    assert.equal((await doctor(data, port)).of('backup')[0]?.result, 'ok');
  });

  test('with a certificate of another authority, its port is its own, too', async () => {
    const pem = join(data, 'pki', 'serving.pem');
    const files = ['--tls-cert-file', pem, '--tls-private-key-file', pem];
    const other = join(temporaryDirectory(), 'data');
    const supplied = await startCoordinatorProcess(other, [
      ...files,
      '--tls-ca-file',
      join(data, 'pki', 'ca.crt'),
    ]);
    try {
      const { port: itsPort } = new URL(accessOf(supplied.kubeconfig).server);
      assert.match(
        (await doctor(other, itsPort, ...files)).of('port')[0]?.found ?? '',
        /this coordinator serves/,
      );
      assert.equal((await doctor(other, port)).of('port')[0]?.result, 'error');
    } finally {
      await supplied.end('SIGTERM');
    }
  });

  test('a name that the certificate lacks is reported', async () => {
    const [, , lacking] = (await doctor(data, port, '--advertise', '192.0.2.99')).of('certificate');
    assert.match(lacking?.found ?? '', /lacks 192\.0\.2\.99/);
  });

  test('a key that others can read is an error', async () => {
    chmodSync(data, 0o755);
    chmodSync(join(data, 'pki', 'ca.key'), 0o644);
    try {
      const { status, of } = await doctor(data, port);
      assert.equal(status, EXIT_CODES.environment);
      assert.match(of('data directory')[0]?.found ?? '', /access to .*ca\.key$/);
    } finally {
      chmodSync(data, 0o700);
      chmodSync(join(data, 'pki', 'ca.key'), 0o600);
    }
  });

  test('a settings file is read, and a file that is no certificate is named', async () => {
    const file = join(data, 'settings.yaml');
    const broken = join(data, 'broken.pem');
    writeFileSync(broken, 'no certificate');
    writeFileSync(file, `tlsCertFile: ${broken}\ntlsPrivateKeyFile: ${broken}\n`);
    const certificates = (await doctor(data, port, '--config', file)).of('certificate');
    rmSync(file);
    rmSync(broken);
    assert.match(certificates[1]?.found ?? '', /the certificate of --tls-cert-file: /);
  });
});
