/** The file that makes a host this node: only its user can read it, and it is replaced whole or not at all. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../shared/process/private-file.js';

const FILE = 'identity.json';

/** What a node keeps of its enrolment. */
export interface Identity {
  node: string;
  /** Bearer credential for the link. */
  credential: string;
  /** PEM of the coordinator's certificate authority. */
  ca: string;
  /** Absent until the join was answered. */
  clusterUID?: string;
}

/** The identity kept in `dataDir`; undefined when there is none. Throws when the file cannot be read or is damaged. */
export async function readIdentity(dataDir: string): Promise<Identity | undefined> {
  const path = join(dataDir, FILE);
  const content = await readIfPresent(path);
  if (content === undefined) return undefined;
  const value: unknown = JSON.parse(content);
  if (!isIdentity(value)) throw new Error(`${path} is damaged`);
  return value;
}

/** Resolves when the identity is on disk, readable by this user alone. */
export async function writeIdentity(dataDir: string, identity: Identity): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writePrivateFile(join(dataDir, FILE), `${JSON.stringify(identity, undefined, 2)}\n`);
}

function isIdentity(value: unknown): value is Identity {
  if (typeof value !== 'object' || value === null) return false;
  const { node, credential, ca, clusterUID } = value as Record<string, unknown>;
  return [node, credential, ca, clusterUID ?? ''].every((field) => typeof field === 'string');
}
