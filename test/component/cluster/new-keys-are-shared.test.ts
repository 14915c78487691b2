/** New keys of the fleet are stored for the other coordinators before they are used. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clusterize } from '../../../coordinator/cluster/clusterize.js';
import { exportFleetKeys, importFleetKeys } from '../../../coordinator/cluster/keys/fleet-key-files.js';
import { FleetKeySync } from '../../../coordinator/cluster/keys/fleet-key-sync.js';
import { COORDINATOR_SETTINGS } from '../../../coordinator/coordinator-settings.js';
import { ServingCertificates } from '../../../coordinator/serving-certificates.js';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { loadSettings } from '../../../shared/process/settings/settings-schema.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { makeCoordinatorData } from '../../harness/cluster/coordinator-data.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';

const YEAR_MS = 365 * 86_400_000;

test('hosts learn a new authority only after the other coordinators can get its key', async () => {
  const data = await makeCoordinatorData();
  const flags = { data };
  const environment = { flags, environment: {}, environmentPrefix: 'X' };
  const settings = await loadSettings(COORDINATOR_SETTINGS, environment);
  const clock = new ManualClock(Date.now());
  const steps: string[] = [];
  let isEtcdDown = false;
  const certificates = new ServingCertificates({
    ...{ settings, clock, log: silentLogger },
    publishKeys: async () => {
      if (isEtcdDown) throw new Error('etcd does not answer');
      steps.push('published');
    },
  });
  await certificates.load(async (_, isTrustChanged) => {
    steps.push(isTrustChanged ? 'sent' : 'renewed');
  });
  const first = certificates.pki.trustBundle;
  await certificates.renew();
  assert.deepEqual(steps.splice(0), ['published', 'renewed']);
  // The next authority is due three years before the end of the first.
  clock.advance(8 * YEAR_MS);
  isEtcdDown = true;
  await assert.rejects(certificates.renew(), /etcd does not answer/);
  assert.equal(certificates.pki.trustBundle, first);
  assert.deepEqual(steps, []);
  isEtcdDown = false;
  await certificates.renew();
  assert.deepEqual(steps, ['published', 'sent']);
  assert.ok(certificates.pki.trustBundle.length > first.length);
});

test('secrets-key rotate stores the new key for the others, and only on the machine that leads', async (context) => {
  const missing = missingEtcd();
  if (missing !== undefined) return leaveOut(context, 'a new key of several coordinators', missing);
  const etcd = await startEtcd();
  context.after(() => etcd.stop());
  const dataDir = await makeCoordinatorData();
  const secretsKeyPath = join(dataDir, 'pki', 'secrets.key');
  const open = (name: Parameters<typeof openEtcdCluster>[0]['name']) =>
    openEtcdCluster({ access: etcd.access, name });
  const member = await clusterize({
    ...{ dataDir, secretsKeyPath, name: 'first', server: 'https://first:6443', now: Date.now() },
    openStorage: open,
  });
  const storage = open(member);
  context.after(() => storage.close());
  const follower = temporaryDirectory();
  const server = 'https://second:6443';
  await importFleetKeys(follower, await exportFleetKeys(dataDir), server);
  const { clusterUID } = member;
  const sync = new FleetKeySync({
    ...{ dataDir: follower, server, clusterUID, keys: storage, clock: systemClock, log: silentLogger },
  });
  const rotate = (...more: string[]) => runEverynode(['secrets-key', 'rotate', '--data', dataDir, ...more]);
  const etcdFlags = ['--etcd', etcd.endpoints.join()];
  const before = readFileSync(secretsKeyPath, 'utf8');

  const unconfigured = await rotate();
  assert.equal(unconfigured.code, EXIT_CODES.usage);
  assert.match(
    unconfigured.stderr,
    /pass its --etcd options, so that the other coordinators get the new key/,
  );
  const following = await rotate(...etcdFlags);
  assert.equal(following.code, EXIT_CODES.refused);
  assert.match(following.stderr, /on the machine of the coordinator that leads: none does now/);
  assert.equal(readFileSync(secretsKeyPath, 'utf8'), before);

  assert.ok(await storage.campaign({ memberId: member.memberId, bootId: 'boot' }));
  const { code, stdout, stderr } = await rotate(...etcdFlags);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /contains 2 keys now/);
  // The machine dies now. The follower leads with the keys of etcd.
  assert.equal(await sync.pull(), true);
  assert.equal(
    readFileSync(join(follower, 'pki', 'secrets.key'), 'utf8'),
    readFileSync(secretsKeyPath, 'utf8'),
  );
});
