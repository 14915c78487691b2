/** A thread that copies the database as it is at one moment, while the coordinator goes on writing. */
import { parentPort, workerData } from 'node:worker_threads';
import { makePrivateFile } from './private-files.js';
import { readIdentity } from './sqlite-identity.js';
import { lastRevision, openDatabase } from './sqlite-schema.js';
import { toStoreError } from './store-error.js';

/** Which database to copy, and the file that does not exist yet. */
export interface CopyWish {
  from: string;
  to: string;
}

/** What the copy holds, or why there is none. */
export type CopyReply =
  | { clusterUID: string; era: string; revision: number }
  | { error: { code: string; message: string } };

/** One statement reads one state of the database, whoever writes meanwhile; what the copy holds is read from itself. */
function copy({ from, to }: CopyWish): CopyReply {
  const source = openDatabase(from);
  try {
    makePrivateFile(to);
    source.prepare('VACUUM INTO ?').run(to);
  } finally {
    source.close();
  }
  const copied = openDatabase(to);
  try {
    // One file, no journal beside it.
    copied.pragma('journal_mode = DELETE');
    const { clusterUID, era } = readIdentity(copied);
    return { clusterUID, era, revision: lastRevision(copied) };
  } finally {
    copied.close();
  }
}

function answer(wish: CopyWish): CopyReply {
  try {
    return copy(wish);
  } catch (error) {
    const { code, message } = toStoreError(error, wish.to);
    return { error: { code, message } };
  }
}

parentPort?.postMessage(answer(workerData));
