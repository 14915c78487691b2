/** `everynode backup` with a kubeconfig: the API sends the backup to users with the right to create one. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { stringify } from 'yaml';
import { BackupDownloads } from '../../../coordinator/backup-downloads.js';
import { unpackBackup } from '../../../coordinator/store/backup/backup-archive.js';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const FLEET = 'fleet.everynode.dev';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const RULES = [{ apiGroups: [FLEET], resources: ['backups'], verbs: ['create'] }];

describe('everynode backup by a user of the API', () => {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const backupDir = join(folder, 'large-disk');
  const deps = { dataDir: data, directory: backupDir, clock: systemClock, log: silentLogger };
  let coordinator: CoordinatorProcess;
  let api: CoordinatorApi;

  before(async () => {
    // As after a coordinator that was killed during a backup.
    mkdirSync(join(backupDir, '.download'), { recursive: true });
    coordinator = await startCoordinatorProcess(data, ['--backup-dir', backupDir]);
    api = new CoordinatorApi(coordinator.kubeconfig);
    await api.request('POST', '/api/v1/namespaces', { metadata: { name: 'kept' } });
    await api.request('POST', `${RBAC}/clusterroles`, { metadata: { name: 'keeper' }, rules: RULES });
    await api.request('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'keeper' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'keeper' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    });
    for (const name of ['ann', 'bob']) {
      const { stdout } = await runEverynode(['user', 'add', name, '--data', data]);
      writeFileSync(join(folder, name), stdout, { mode: 0o600 });
    }
  });
  after(async () => {
    api.close();
    await coordinator.end('SIGKILL');
  });

  const backupAs = (user: string, ...words: string[]) =>
    runEverynode(['backup', '--kubeconfig', join(folder, user), ...words]);

  test('a user with the right receives a complete backup, readable only by its owner', async () => {
    assert.deepEqual(readdirSync(backupDir), [], 'the start deletes an incomplete backup');
    const target = join(folder, 'received');
    mkdirSync(target);
    const { code, stdout, stderr } = await backupAs('ann', '--to', target);
    assert.equal(code, 0, stderr);
    const [name = '', ...others] = readdirSync(target);
    assert.deepEqual(others, []);
    const path = join(target, name);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const manifest = await unpackBackup(path, join(folder, 'unpacked'));
    const names = manifest.files.map((file) => file.name);
    for (const each of ['everynode.db', 'kubeconfig', 'pki/secrets.key'])
      assert.ok(names.includes(each), each);
    assert.equal(
      stdout,
      `${path}: revision ${manifest.revision}, ${statSync(path).size} bytes. It contains the keys of the fleet: protect it like the coordinator's machine.\n`,
    );
    assert.deepEqual(readdirSync(backupDir), [], 'no copy stays on the coordinator');
    assert.equal(existsSync(join(data, 'backups')), false, 'the backup was written to --backup-dir');
  });

  test('a start deletes what a killed coordinator left of a backup', async () => {
    const directory = join(folder, 'left');
    mkdirSync(join(directory, '.download'), { recursive: true });
    writeFileSync(join(directory, '.download', 'manual.tar.gz.new'), 'keys');
    const backups = new BackupDownloads({ ...deps, directory });
    await backups.start();
    assert.deepEqual(readdirSync(directory), []);
  });

  test('the audit log names the user and the backup', async () => {
    const path = `/apis/${FLEET}/v1/auditevents?user=ann&changes=true`;
    const { items } = await api.request<{ items: AuditEvent[] }>('GET', path);
    const [{ verb, objectRef, responseStatus } = assert.fail()] = items;
    assert.deepEqual([verb, objectRef?.resource, responseStatus.code], ['create', 'backups', 200]);
    assert.match(objectRef?.name ?? '', /^manual-[\dTZ-]+\.tar\.gz$/);
  });

  test('without the right nothing is written, and the refusal names the rule', async () => {
    const path = join(folder, 'refused.tar.gz');
    const { code, stderr } = await backupAs('bob', '--to', path);
    assert.equal(code, 5, stderr);
    assert.match(stderr, /Forbidden.*User "bob" cannot create resource "backups" in API group "fleet/);
    assert.match(
      stderr,
      /rule \{apiGroups: \["fleet\.everynode\.dev"\], resources: \["backups"\], verbs: \["create"\]\}/,
    );
    assert.deepEqual([existsSync(path), existsSync(`${path}.new`)], [false, false]);
  });

  test('a place that cannot be written is refused before the coordinator takes a backup', async () => {
    const { code, stderr } = await backupAs('ann', '--to', join(folder, 'nowhere/file'));
    assert.equal(code, 3, stderr);
    assert.match(stderr, /nowhere\/file was not written: ENOENT.*: choose another place with --to\.\n$/);
  });

  test('parameters are refused', async () => {
    const { code } = await api.send('POST', `/apis/${FLEET}/v1/backups?dryRun=All`);
    assert.equal(code, 400);
  });

  test('one backup is taken at a time, and the next one after it', async () => {
    const backups = new BackupDownloads(deps);
    const [first, second] = await Promise.allSettled([backups.take(), backups.take()]);
    assert.equal(first.status, 'fulfilled');
    assert.ok(second.status === 'rejected' && second.reason.reason === 'Conflict');
    const next = await backups.take();
    await assert.rejects(backups.take(), { reason: 'Conflict', message: /are being sent to clients/ });
    for (const { content, sizeBytes } of [first.value, next])
      assert.equal((await buffer(content)).length, sizeBytes);
    for await (const _ of (await backups.take()).content) break;
    const { content } = await backups.take();
    await buffer(content);
  });

  test('a download that ends early leaves no file', async (context) => {
    const { serving, trustBundle: trust } = await sharedPki();
    const server = createServer(serving, (request, response) => {
      if (request.method === 'GET') return response.end('{}');
      response.writeHead(200, { 'content-length': '1000' });
      return response.write('half', () => response.destroy());
    });
    context.after(() => void server.close());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cluster = { server: address, 'certificate-authority-data': btoa(trust) };
    const kubeconfig = {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster }],
      users: [{ name: 'a', user: { token: 't' } }],
    };
    writeFileSync(join(folder, 'cut'), stringify(kubeconfig));
    const path = join(folder, 'cut.tar.gz');
    const { code, stderr } = await backupAs('cut', '--to', path);
    assert.equal(code, 3, stderr);
    assert.match(stderr, /the coordinator did not send all of the backup \(.*\): try again\.\n$/);
    assert.deepEqual([existsSync(path), existsSync(`${path}.new`)], [false, false]);
  });
});
