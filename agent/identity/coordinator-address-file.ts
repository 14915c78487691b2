/** The file with the addresses of the fleet's coordinators, next to the identity. */
import { join } from 'node:path';
import { validCoordinatorAddresses } from '../../shared/link/coordinator-list.js';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { CoordinatorAddresses, type StoredAddresses } from '../link/coordinator-addresses.js';

const FILE = 'coordinators.json';

/** Resolves with the addresses of the settings and of earlier links. A damaged file is ignored: it is only a cache. */
export async function openCoordinatorAddresses(
  dataDir: string,
  configured: readonly string[],
  log: Logger,
): Promise<CoordinatorAddresses> {
  const path = join(dataDir, FILE);
  const stored = await readStored(path, log);
  const save = (addresses: StoredAddresses) => writePrivateFile(path, `${JSON.stringify(addresses)}\n`);
  return new CoordinatorAddresses({ configured, ...(stored ? { stored } : {}), save, log });
}

async function readStored(path: string, log: Logger): Promise<StoredAddresses | undefined> {
  try {
    const text = await readIfPresent(path);
    return text === undefined ? undefined : parseStored(text);
  } catch (error) {
    log.warn({ path, err: error }, 'stored addresses of the coordinators ignored: the file is damaged');
    return undefined;
  }
}

/** Throws an Error for content that the agent did not write. */
function parseStored(text: string): StoredAddresses {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('not a JSON object');
  const { coordinators, lastGood } = value as Record<string, unknown>;
  if (!Array.isArray(coordinators)) throw new Error('"coordinators" is not a list');
  const valid = validCoordinatorAddresses(coordinators);
  if (valid.length < coordinators.length)
    throw new Error('"coordinators" contains other values than https://HOST:PORT');
  const [good] = validCoordinatorAddresses([lastGood]);
  return { coordinators: valid, ...(good === undefined ? {} : { lastGood: good }) };
}
