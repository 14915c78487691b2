/** Starts a coordinator with `--etcd`: checks etcd and the data directory, opens the port, and follows the log. */

import { hostname } from 'node:os';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import { sentence } from '../shared/process/output/sentence.js';
import { systemClock } from '../shared/process/time/clock.js';
import { openFrontDoor } from './cluster/front-door/front-door.js';
import { requireBundledSecretsKey } from './cluster/keys/fleet-key-files.js';
import { FleetKeySync } from './cluster/keys/fleet-key-sync.js';
import { FleetKeysError } from './cluster/keys/fleet-keys.js';
import { readClusterKey } from './cluster/keys/sealed-value.js';
import {
  type MemberFile,
  MemberFileError,
  readMemberFile,
  readPendingMember,
  writeMemberFile,
} from './cluster/member-file.js';
import { downloadSnapshot } from './cluster/snapshot/snapshot-download.js';
import { updateMemberAddress } from './cluster/update-member-address.js';
import { RunningMember } from './cluster-main.js';
import { secretsKeyPath } from './coordinator-data-dir.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { foundCluster } from './found-cluster.js';
import type { RunningCoordinator } from './main.js';
import { readTrust } from './pki/read-trust.js';
import { memberServer } from './server-addresses.js';
import { readEtcdSettings } from './store/replica/etcd/checks/etcd-addresses.js';
import { checkEtcd } from './store/replica/etcd/checks/etcd-checks.js';
import { EtcdRefused } from './store/replica/etcd/checks/etcd-refused.js';
import { openEtcdCluster } from './store/replica/etcd/open-etcd-cluster.js';
import type { ClusterStorage } from './store/replica/replicated-log.js';
import { waitForStartSpace } from './store/start-reserve.js';

/** Resolves when the port is open. Throws `ExitError` for causes that an operator can fix; nothing is changed then. */
export async function startMember(
  settings: CoordinatorSettings & { etcd: string },
  log: Logger,
): Promise<RunningCoordinator> {
  const clock = systemClock;
  const { data } = settings;
  await waitForStartSpace({ dataDir: data, clock, log });
  const { member: found, etcdClusterId } = await ownMember(settings, log);
  const access = readEtcdSettings(settings);
  const storage = openEtcdCluster({
    ...{ access, name: found, clusterId: etcdClusterId, clock, onFailure: failureLog(log) },
  });
  const clusterKey = await readClusterKey(data);
  const { host, port } = settings;
  const door = await openFrontDoor({ host, port, key: clusterKey, clock, log }).catch(async (error) => {
    await storage.close();
    throw error;
  });
  // After the port is open: a second start by mistake must not register its address for the running process.
  const member = await withAdvertisedAddress(settings, found, storage, log);
  const { clusterUID, generation, memberId } = member;
  const running = new RunningMember({
    ...{ settings, member, clusterKey, door, storage, clock, log },
    keys: new FleetKeySync({ dataDir: data, server: member.server, clusterUID, keys: storage, clock, log }),
    takeSnapshot: async (server, signal) => {
      const source = {
        server,
        ca: await readTrust(join(data, 'pki')),
        clusterKey,
        clusterUID,
        generation,
        memberId,
        now: clock.now(),
        signal,
      };
      await downloadSnapshot(source, data);
    },
  });
  running.start();
  return running;
}

/** Without an answer of etcd the old address stays, and the next start registers the new one. */
async function withAdvertisedAddress(
  settings: CoordinatorSettings,
  member: MemberFile,
  storage: ClusterStorage,
  log: Logger,
): Promise<MemberFile> {
  if (settings.advertise === undefined) return member;
  const server = memberServer(settings);
  try {
    return await updateMemberAddress(storage, settings.data, member, server);
  } catch (error) {
    log.warn({ err: error, server }, 'the new address of this coordinator is not registered yet');
    return member;
  }
}

/** While etcd is down, every attempt fails at another member. One line per member and reason is enough. */
function failureLog(log: Logger): (endpoint: string, reason: string) => void {
  const reasons = new Map<string, string>();
  return (endpoint, reason) => {
    if (reasons.get(endpoint) === reason) return;
    reasons.set(endpoint, reason);
    log.warn({ endpoint, reason }, 'a member of etcd does not answer');
  };
}

/** Returns this directory's member. Founds a cluster if directory and etcd are empty. Throws `ExitError`. */
async function ownMember(
  settings: CoordinatorSettings & { etcd: string },
  log: Logger,
): Promise<{ member: MemberFile; etcdClusterId: string }> {
  try {
    const member = await readMemberFile(settings.data);
    if (member) requireBundledSecretsKey(settings.data, secretsKeyPath(settings, process.env));
    const report = await checkEtcd(readEtcdSettings(settings), member?.clusterUID);
    for (const warning of report.warnings) log.warn(warning);
    const { clusterId: etcdClusterId } = report;
    if (member) return { member: await requireSameLog(member, report.fleet, settings.data), etcdClusterId };
    if (report.fleet) throw await servesFleetAlready(settings.data, report.fleet);
    return { member: await foundCluster(settings, hostname(), etcdClusterId), etcdClusterId };
  } catch (error) {
    if (error instanceof EtcdRefused) throw new ExitError(EXIT_CODES[error.code], sentence(error.message));
    if (error instanceof MemberFileError || error instanceof FleetKeysError)
      throw new ExitError(EXIT_CODES.data, sentence(error.message));
    throw error;
  }
}

/** After an interrupted `clusterize` this directory has the only keys of the fleet, so it must not be given up. */
async function servesFleetAlready(
  dataDir: string,
  { generation }: { generation: string },
): Promise<ExitError> {
  const pending = await readPendingMember(dataDir);
  const text =
    pending?.generation === generation
      ? `Making ${dataDir} the first coordinator of its cluster was interrupted. Keep the directory, which has the only keys of the fleet, and run "everynode coordinator clusterize" with the same --etcd options to continue.`
      : 'This etcd already serves a fleet: join it with "everynode coordinator join" and an empty data directory.';
  return new ExitError(EXIT_CODES.refused, text);
}

/** A restore starts a new log: this member follows it from now on, and takes a snapshot. */
async function requireSameLog(
  member: MemberFile,
  fleet: { generation: string } | undefined,
  dataDir: string,
): Promise<MemberFile> {
  if (!fleet) {
    const advice =
      'check --etcd. If etcd lost its data, make the coordinator with the newest database the first one again: "everynode coordinator clusterize --undo --etcd-lost" and "everynode coordinator clusterize", then join the others with empty data directories';
    throw new ExitError(
      EXIT_CODES.refused,
      `This etcd has no fleet, but ${dataDir} belongs to one: ${advice}.`,
    );
  }
  if (fleet.generation === member.generation) return member;
  const renewed = { ...member, generation: fleet.generation };
  await writeMemberFile(dataDir, renewed);
  return renewed;
}
