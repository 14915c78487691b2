/** Checks whether this host allows an update now: by a lock file, or by a socket on which a local program answers. */
import { readFile, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ActiveUpdateLock } from '../decisions/handovers/handover-step.js';
import { updateLockInAnswer, updateLockInFile } from '../decisions/handovers/update-lock-text.js';

/** A program that does not answer in time counts as holding the lock. */
const ANSWER_MS = 2_000;
const MAX_ANSWER = 4_096;

/** The request to the local program, one line of JSON. */
interface UpdateLockQuery {
  namespace: string;
  /** Name of the Pod to be replaced. */
  pod: string;
  images: string[];
}

/** A local veto against updates of Pods. */
export interface UpdateLock {
  /** Resolves with undefined if the update may start. A lock that cannot be read counts as held. */
  ask(question: UpdateLockQuery): Promise<ActiveUpdateLock | undefined>;
}

/** For simulated hosts. */
export const NO_UPDATE_LOCK: UpdateLock = { ask: async () => undefined };

/**
 * Uses the file or socket at `path`. An existing file holds the lock; a socket is queried. `wallClock` decides
 * whether the time in a line `until:` has passed.
 */
export function updateLockAt(path: string, clock: Clock, wallClock: Clock): UpdateLock {
  return {
    ask: async (question) => {
      try {
        const found = await stat(path);
        if (found.isSocket())
          return updateLockInAnswer(await answerOf(path, question, clock), wallClock.now());
        return updateLockInFile(found.isFile() ? await readFile(path, 'utf8') : '', wallClock.now());
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        // There is no file, or the program behind the socket has ended.
        if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return undefined;
        return { reason: `cannot query ${path}: ${message}` };
      }
    },
  };
}

function answerOf(path: string, question: UpdateLockQuery, clock: Clock): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    let answer = '';
    const timer = clock.after(ANSWER_MS, () => socket.destroy(new Error(`no answer within ${ANSWER_MS} ms`)));
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${JSON.stringify(question)}\n`));
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.includes('\n') || answer.length > MAX_ANSWER) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      timer.cancel();
      resolve(answer.slice(0, MAX_ANSWER));
    });
  });
}
