/** `everynode coordinator clusterize`: makes a single coordinator the first member of a cluster, and the way back. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { acquireDataLock, DATABASE_FILE } from '../store/data-files.js';
import { clearLogPosition, readLogPosition, startLog } from '../store/replica/log-position.js';
import { type ClusterStorage, LogUnavailable } from '../store/replica/replicated-log.js';
import { readIdentity } from '../store/sqlite/sqlite-identity.js';
import { openDatabase, prepareSchema } from '../store/sqlite/sqlite-schema.js';
import {
  CLUSTER_KEY,
  type ClusterRecord,
  KEYS_KEY,
  MEMBERS_PREFIX,
  memberKey,
  statusKey,
  TOKENS_PREFIX,
} from './cluster-member.js';
import { createClusterView, encodeRecord, readClusterRecord, registerMember } from './cluster-view.js';
import type { OpenStorage } from './join/join-cluster.js';
import {
  exportFleetKeys,
  KEYS_VERSION_FILE,
  requireBundledSecretsKey,
  writeKeysVersion,
} from './keys/fleet-key-files.js';
import { packFleetKeys } from './keys/fleet-keys.js';
import { clusterKeyPath, createClusterKey, sealValue } from './keys/sealed-value.js';
import {
  type MemberFile,
  readMemberFile,
  readPendingMember,
  removeMemberFile,
  removePendingMember,
  writeMemberFile,
  writePendingMember,
} from './member-file.js';

interface ClusterizeOptions {
  dataDir: string;
  secretsKeyPath: string;
  /** Host name of this machine. */
  name: string;
  /** `https://HOST:PORT` at which others reach this coordinator. */
  server: string;
  openStorage: OpenStorage;
  /** The present time, ms. */
  now: number;
}

/**
 * Continues a run that was interrupted. Changes nothing on failure; if it is not known what etcd stored, it keeps a note
 * for the next run. Throws `ExitError`, StoreError, LogUnavailable, FleetKeysError.
 */
export async function clusterize(options: ClusterizeOptions): Promise<MemberFile> {
  const { dataDir } = options;
  requireDatabase(dataDir);
  const lock = acquireDataLock(dataDir);
  try {
    const present = await readMemberFile(dataDir);
    if (present) throw refused(`${dataDir} is already coordinator ${present.memberId} of a cluster`);
    requireBundledSecretsKey(dataDir, options.secretsKeyPath);
    const { name, server } = options;
    const clusterUID = withDatabase(dataDir, (database) => readIdentity(database).clusterUID);
    const pending = await readPendingMember(dataDir);
    const isContinued = pending?.clusterUID === clusterUID;
    const memberId = isContinued ? pending.memberId : randomId();
    const generation = isContinued ? pending.generation : randomId();
    const member: MemberFile = { memberId, clusterUID, generation, server, name };
    const storage = options.openStorage(member);
    try {
      await requireFreeEtcd(storage, member);
      return await createCluster(options, storage, member);
    } finally {
      await storage.close();
    }
  } finally {
    lock.release();
  }
}

/**
 * The pending member file first: after a crash, etcd may name this fleet, and this directory has its only keys. The next
 * run recognizes the record by the generation and continues.
 */
async function createCluster(
  { dataDir, now }: ClusterizeOptions,
  storage: ClusterStorage,
  member: MemberFile,
): Promise<MemberFile> {
  const { memberId: id, clusterUID, generation, name, server } = member;
  const record: ClusterRecord = { clusterUID, generation };
  await writePendingMember(dataDir, member);
  const before = await storage.get(CLUSTER_KEY);
  let isRecorded = false;
  try {
    const clusterKey = await createClusterKey(dataDir);
    const { files } = await exportFleetKeys(dataDir);
    const packed = packFleetKeys({ version: 1, files });
    await storage.put(KEYS_KEY, sealValue(clusterKey, `${record.clusterUID}/${KEYS_KEY}`, packed));
    // An interrupted run may have registered the member with another address.
    await storage.delete(memberKey(id));
    await registerMember(storage, { id, name, server, joinedAt: now });
    isRecorded = await storage.put(CLUSTER_KEY, encodeRecord(record), { version: before?.version ?? 0 });
    if (!isRecorded) throw refused('another coordinator took this etcd at the same time');
    await writeKeysVersion(dataDir, 1);
    withDatabase(dataDir, (database) => startLog(database, record.generation));
    await writeMemberFile(dataDir, member);
    await removePendingMember(dataDir);
    return member;
  } catch (error) {
    await removeLocal(dataDir);
    // Without an answer, etcd may have the record or get it later. The next run finds its generation in the note.
    let isKnown = !(error instanceof LogUnavailable);
    const written = [memberKey(id), KEYS_KEY, ...(isRecorded ? [CLUSTER_KEY] : [])];
    for (const key of written)
      await storage.delete(key).catch(() => {
        isKnown = false;
      });
    // A record of an earlier run stays: without the note, this directory would not be known as the one with the keys.
    if (isKnown && (isRecorded || before === undefined)) await removePendingMember(dataDir);
    throw error;
  }
}

/**
 * Refuses an etcd with another fleet, or with a cluster of this one that this directory did not begin to make: its
 * members may all be down, and their registrations must stay. Host names do not tell, because machines can have equal
 * ones.
 */
async function requireFreeEtcd(storage: ClusterStorage, own: ClusterRecord): Promise<void> {
  const present = await readClusterRecord(storage);
  if (!present) return;
  if (present.clusterUID !== own.clusterUID) {
    throw refused(
      `this etcd belongs to another fleet (${present.clusterUID}): each fleet needs an etcd cluster of its own`,
    );
  }
  if (present.generation === own.generation && !(await storage.leader())) return;
  const members = await createClusterView(storage, '').members();
  const names = members.map(({ member }) => `${member.name} (${member.id})`).join(', ');
  throw refused(
    `this etcd has the coordinators of this fleet already${names && `: ${names}`}: use "everynode coordinator join" with an empty data directory`,
  );
}

/**
 * Makes the only member a single coordinator again. Throws like `clusterize`, and if other members are registered, if
 * one leads, or if the database lacks records of the log.
 */
export async function undoClusterize(
  dataDir: string,
  openStorage: OpenStorage,
  { isEtcdLost = false } = {},
): Promise<MemberFile> {
  requireDatabase(dataDir);
  const lock = acquireDataLock(dataDir);
  try {
    const member = await readMemberFile(dataDir);
    if (!member) throw refused(`${dataDir} is the data of a single coordinator`);
    const storage = openStorage(member);
    try {
      if (!isEtcdLost) await requireOwnEtcd(storage, member);
      await leaveCluster(dataDir, member, storage);
      return member;
    } finally {
      await storage.close();
    }
  } finally {
    lock.release();
  }
}

/** With a wrong, empty etcd, this coordinator would leave a cluster that still serves: two fleets with the same keys. */
async function requireOwnEtcd(storage: ClusterStorage, { clusterUID }: MemberFile): Promise<void> {
  const record = await readClusterRecord(storage);
  if (record?.clusterUID === clusterUID) return;
  throw refused(
    'this etcd has no record of this fleet: check --etcd. If etcd has lost its data, stop all coordinators and repeat the command with --etcd-lost on the one with the newest database',
  );
}

async function leaveCluster(dataDir: string, member: MemberFile, storage: ClusterStorage): Promise<void> {
  const others = (await createClusterView(storage, member.memberId).members()).filter(
    (each) => each.member.id !== member.memberId,
  );
  if (others.length > 0) {
    const names = others.map((each) => `${each.member.name} (${each.member.id})`).join(', ');
    throw refused(
      `the cluster has other coordinators: ${names}. Stop them, and run "everynode coordinator remove NAME" for each`,
    );
  }
  // While this command leads, no other process can append to the log.
  const leadership = await storage.campaign({ memberId: member.memberId, bootId: 'clusterize' });
  if (!leadership) throw refused('a coordinator leads: stop it, wait 5 s, and try again');
  try {
    const { next } = await storage.bounds();
    const position = withDatabase(dataDir, readLogPosition);
    const missing = next - 1 - (position?.record ?? 0);
    if (position?.generation !== member.generation || missing > 0) {
      throw refused(
        `the database lacks ${Math.max(1, missing)} records of the log: start this coordinator, wait until "everynode coordinator members" shows no lag, and stop it`,
      );
    }
    // The member file last: until then an interrupted run can be repeated.
    await storage.trim(next, leadership.term);
    await removeFleet(storage, member.memberId);
    await removePendingMember(dataDir);
    await removeLocal(dataDir);
  } finally {
    await leadership.resign();
  }
}

/** The member file is removed first: without it the directory is that of a single coordinator. */
async function removeLocal(dataDir: string): Promise<void> {
  await removeMemberFile(dataDir);
  withDatabase(dataDir, clearLogPosition);
  await rm(clusterKeyPath(dataDir), { force: true });
  await rm(join(dataDir, KEYS_VERSION_FILE), { force: true });
}

/** The record of the cluster is removed last, because it names the fleet that the other keys belong to. */
async function removeFleet(storage: ClusterStorage, memberId: string): Promise<void> {
  for (const prefix of [TOKENS_PREFIX, MEMBERS_PREFIX]) {
    for (const { name } of await storage.list(prefix)) await storage.delete(name);
  }
  for (const name of [statusKey(memberId), KEYS_KEY, CLUSTER_KEY]) await storage.delete(name);
}

function randomId(): string {
  return randomBytes(4).toString('hex');
}

function withDatabase<T>(dataDir: string, work: (database: ReturnType<typeof openDatabase>) => T): T {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  try {
    prepareSchema(database);
    return work(database);
  } finally {
    database.close();
  }
}

function requireDatabase(dataDir: string): void {
  if (existsSync(join(dataDir, DATABASE_FILE))) return;
  throw new ExitError(
    EXIT_CODES.environment,
    `There is no database of a coordinator in ${dataDir}: pass its data directory with --data.`,
  );
}

function refused(why: string): ExitError {
  return new ExitError(EXIT_CODES.refused, `${why.charAt(0).toUpperCase()}${why.slice(1)}.`);
}
