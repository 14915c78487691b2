/** `everynode coordinator join`: makes an empty data directory that of another coordinator of a fleet. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { trackNewFolders } from '../../../shared/process/files/new-file-cleanup.js';
import { makePrivateDirectory, syncDirectory } from '../../../shared/process/files/private-file.js';
import { VERSION } from '../../../shared/process/release-version.js';
import { acquireDataLock, DATABASE_FILE, lockPath, MEMBER_FILE } from '../../store/data-files.js';
import { LOG_FORMAT } from '../../store/replica/log-entry.js';
import type { ClusterStorage } from '../../store/replica/replicated-log.js';
import { type ClusterRecord, memberKey } from '../cluster-member.js';
import { readClusterRecord, registerMember } from '../cluster-view.js';
import { importFleetKeys, KEYS_VERSION_FILE } from '../keys/fleet-key-files.js';
import { type FleetKeys, FleetKeysError, unpackFleetKeys } from '../keys/fleet-keys.js';
import { SealError } from '../keys/sealed-value.js';
import { type MemberFile, writeMemberFile } from '../member-file.js';
import { type CoordinatorToken, parseCoordinatorToken } from './coordinator-tokens.js';
import { parseCoordinatorUrl, pinnedAuthority, sendJoin } from './join-client.js';
import { beginJoin } from './join-exchange.js';

/** Opens the storage of a fleet. Before the fleet is known, any name reads the record of the cluster. */
export type OpenStorage = (name: ClusterRecord) => ClusterStorage;

const UNKNOWN: ClusterRecord = { clusterUID: 'unknown', generation: 'unknown' };
/** The new files before they are complete. A later join removes what an interrupted one left. */
const SCRATCH = 'joining';
/** Moved in this order: with the member file, the directory is complete. */
const INSTALLED = ['pki', 'kubeconfig', 'ticket-keys', KEYS_VERSION_FILE, MEMBER_FILE];

interface JoinClusterOptions {
  /** `https://HOST:PORT` of any coordinator of the fleet. */
  coordinator: string;
  /** `ID.SECRET.CAHASH`. */
  token: string;
  /** Created if missing. */
  dataDir: string;
  /** Host name of this machine. */
  name: string;
  /** `https://HOST:PORT` at which others will reach this coordinator. */
  server: string;
  openStorage: OpenStorage;
  /** The present time, ms. */
  now: number;
  /** Newest format of log records that this version reads; absent: that of this program. */
  logFormat?: number;
}

/**
 * Returns the new member. The token is spent only if everything that can be checked before has been checked. A refused
 * join leaves nothing behind. Throws `ExitError`, StoreError and LogUnavailable.
 */
export async function joinCluster(options: JoinClusterOptions): Promise<MemberFile> {
  const { dataDir } = options;
  const token = parseCoordinatorToken(options.token);
  if (!token) {
    throw new ExitError(
      EXIT_CODES.usage,
      'The token is not of the form ID.SECRET.CAHASH of a coordinator: make one with "everynode coordinator token" (a token for hosts does not admit a coordinator).',
    );
  }
  requireEmpty(dataDir);
  const removeNewFolders = trackNewFolders(dataDir);
  const isLockNew = !existsSync(lockPath(dataDir));
  makePrivateDirectory(dataDir);
  const lock = acquireDataLock(dataDir);
  let isJoined = false;
  try {
    const member = await joinLocked(options, token);
    isJoined = true;
    return member;
  } finally {
    if (!isJoined && isLockNew) await rm(lockPath(dataDir), { force: true });
    // Releasing the lock removes its journal, so release it before removing folders.
    lock.release();
    if (!isJoined) removeNewFolders();
  }
}

async function joinLocked(options: JoinClusterOptions, token: CoordinatorToken): Promise<MemberFile> {
  const { dataDir, openStorage, name, server } = options;
  const coordinator = parseCoordinatorUrl(options.coordinator);
  const record = await findFleet(openStorage);
  const ca = await pinnedAuthority(coordinator, token.caHash);
  const member: MemberFile = { memberId: randomBytes(4).toString('hex'), ...record, server, name };
  const { memberId: id } = member;
  const attempt = beginJoin(token, record.clusterUID, {
    ...{
      id,
      name,
      server,
      version: VERSION,
      logFormat: options.logFormat ?? LOG_FORMAT,
      clockMs: options.now,
    },
  });
  const keys = openKeys(attempt.open, await sendJoin(coordinator, ca, attempt.request));
  const storage = openStorage(record);
  const scratch = join(dataDir, SCRATCH);
  try {
    await rm(scratch, { recursive: true, force: true });
    makePrivateDirectory(scratch);
    await importFleetKeys(scratch, keys, server);
    await writeMemberFile(scratch, member);
    if (!(await registerMember(storage, { id, name, server, joinedAt: options.now }))) {
      throw new ExitError(
        EXIT_CODES.unexpected,
        `A coordinator ${id} exists already: join again with a new token.`,
      );
    }
    await install(scratch, dataDir).catch(async (error: unknown) => {
      await storage.delete(memberKey(id)).catch(() => undefined);
      throw error;
    });
    return member;
  } finally {
    await rm(scratch, { recursive: true, force: true });
    await storage.close();
  }
}

/** Reads which fleet the etcd cluster belongs to. */
async function findFleet(openStorage: OpenStorage): Promise<ClusterRecord> {
  const probe = openStorage(UNKNOWN);
  try {
    const record = await readClusterRecord(probe);
    if (record) return record;
  } finally {
    await probe.close();
  }
  throw new ExitError(
    EXIT_CODES.refused,
    'This etcd has no fleet: run "everynode coordinator clusterize" on the machine of the first coordinator, with the same etcd.',
  );
}

function openKeys(open: (answer: unknown) => Buffer, answer: unknown): FleetKeys {
  try {
    return unpackFleetKeys(open(answer));
  } catch (error) {
    if (!(error instanceof SealError) && !(error instanceof FleetKeysError)) throw error;
    throw new ExitError(EXIT_CODES.refused, `The coordinator's answer cannot be used: ${error.message}.`);
  }
}

/** Refuses data of another coordinator before a token is spent. */
function requireEmpty(dataDir: string): void {
  const found = [...INSTALLED, DATABASE_FILE].find((each) => existsSync(join(dataDir, each)));
  if (found === undefined) return;
  throw new ExitError(
    EXIT_CODES.refused,
    `${dataDir} contains ${found} of a coordinator: choose an empty directory with --data, or move that data away.`,
  );
}

async function install(scratch: string, dataDir: string): Promise<void> {
  const installed: string[] = [];
  try {
    for (const file of INSTALLED.filter((each) => existsSync(join(scratch, each)))) {
      await rename(join(scratch, file), join(dataDir, file));
      installed.push(file);
    }
    await syncDirectory(dataDir);
  } catch (error) {
    for (const file of installed) await rm(join(dataDir, file), { recursive: true, force: true });
    throw error;
  }
}
