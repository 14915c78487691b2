/** The file that makes a host this node: only its user can read it, and it is replaced whole or not at all. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import {
  readIfPresent,
  removePrivateFile,
  writePrivateFile,
} from '../../shared/process/files/private-file.js';

const FILE = 'identity.json';

/** What a node keeps of its enrolment. */
export interface Identity {
  node: string;
  /** PEM (PKCS #8) of the host's own key. */
  key: string;
  /** PEM of the newest client certificate for it; absent until the join was answered. */
  certificate?: string;
  /** PEM of the authorities by which the coordinator is known. */
  ca: string;
  /** Absent until the join was answered. */
  clusterUID?: string;
  /** What the join was sealed with, if it was: said at each connect, and understood by the coordinator alone. */
  joinMac?: string;
}

/** Whether a host has begun to join from there. */
export function hasIdentity(dataDir: string): boolean {
  return existsSync(join(dataDir, FILE));
}

/** Whether the host with this data directory has joined a cluster. Throws `ExitError` when the identity is damaged. */
export async function hasJoined(dataDir: string): Promise<boolean> {
  return (await readIdentity(dataDir))?.clusterUID !== undefined;
}

/** The identity kept in `dataDir`; undefined when there is none. Throws `ExitError` when it is damaged. */
export async function readIdentity(dataDir: string): Promise<Identity | undefined> {
  const path = join(dataDir, FILE);
  const content = await readIfPresent(path);
  if (content === undefined) return undefined;
  const value = parse(content);
  if (isIdentity(value)) return value;
  throw new ExitError(
    EXIT_CODES.data,
    `The identity in ${path} is damaged: restore it, or remove it and join with a token, under a name that is free.`,
  );
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** Resolves when the identity is on disk, readable by this user alone. */
export async function writeIdentity(dataDir: string, identity: Identity): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writePrivateFile(join(dataDir, FILE), `${JSON.stringify(identity, undefined, 2)}\n`);
}

/** Resolves when the identity is gone from the disk. */
export function removeIdentity(dataDir: string): Promise<void> {
  return removePrivateFile(join(dataDir, FILE));
}

function isIdentity(value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null) return false;
  const { node, ca, key, certificate, clusterUID, joinMac } = value as Record<string, unknown>;
  const optional = [certificate, clusterUID, joinMac].map((field) => field ?? '');
  return [node, ca, key, ...optional].every((field) => typeof field === 'string');
}
