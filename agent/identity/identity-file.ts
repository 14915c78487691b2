/** The file with the host's identity as a node. Only its user can read it, and it is replaced atomically. */
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
/** Format of the whole data directory: this file and everything next to it. */
const FORMAT = 2;

/** A node's stored identity. */
export interface Identity {
  node: string;
  /** PEM (PKCS #8) of the host's own key. */
  key: string;
  /** PEM of the newest client certificate; absent until the join was answered. */
  certificate?: string;
  /** PEM of the coordinator's authorities. */
  ca: string;
  /** Absent until the join was answered. */
  clusterUID?: string;
  /**
   * The coordinator's MAC over the join, if it made one. It is sent at each connect and only the coordinator can verify
   * it.
   */
  joinMac?: string;
}

/** Returns true if a join was started with this data directory. */
export function hasIdentity(dataDir: string): boolean {
  return existsSync(join(dataDir, FILE));
}

/**
 * Resolves with true if the host with this data directory has joined a cluster. Throws `ExitError` if the identity is
 * damaged.
 */
export async function hasJoined(dataDir: string): Promise<boolean> {
  return (await readIdentity(dataDir))?.clusterUID !== undefined;
}

/**
 * Resolves with the stored identity; undefined if there is none. Throws `ExitError` if it is damaged or of another
 * format.
 */
export async function readIdentity(dataDir: string): Promise<Identity | undefined> {
  const path = join(dataDir, FILE);
  const content = await readIfPresent(path);
  if (content === undefined) return undefined;
  const value = parse(content);
  if (isIdentity(value)) {
    const { format, ...identity } = value;
    if (format === FORMAT) return identity;
    throw new ExitError(
      EXIT_CODES.data,
      `The data directory ${dataDir} was written by another version of the agent (format ${format ?? 1}, this version needs ${FORMAT}): remove the host with that version, then join again.`,
    );
  }
  throw new ExitError(
    EXIT_CODES.data,
    `The identity in ${path} is damaged: restore it from a backup, or remove it and join with a token under an unused name.`,
  );
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** Resolves when the identity is on disk, readable only by this user. */
export async function writeIdentity(dataDir: string, identity: Identity): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writePrivateFile(
    join(dataDir, FILE),
    `${JSON.stringify({ format: FORMAT, ...identity }, undefined, 2)}\n`,
  );
}

/** Resolves when the identity was removed from the disk. */
export function removeIdentity(dataDir: string): Promise<void> {
  return removePrivateFile(join(dataDir, FILE));
}

function isIdentity(value: unknown): value is Identity & { format?: number } {
  if (typeof value !== 'object' || value === null) return false;
  const { node, ca, key, certificate, clusterUID, joinMac } = value as Record<string, unknown>;
  const optional = [certificate, clusterUID, joinMac].map((field) => field ?? '');
  return [node, ca, key, ...optional].every((field) => typeof field === 'string');
}
