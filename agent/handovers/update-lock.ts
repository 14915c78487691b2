/** Asks this host whether a Pod may be replaced now: a lock file, or a socket on which somebody answers. */
import { readFile, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ActiveUpdateLock } from '../decisions/handovers/handover-step.js';
import { updateLockInAnswer, updateLockInFile } from '../decisions/handovers/update-lock-text.js';

/** Who does not answer within this time counts as busy. */
const ANSWER_MS = 2_000;
const MAX_ANSWER = 4_096;

/** What the one who is asked is told, as one line of JSON. */
interface UpdateLockQuery {
  namespace: string;
  /** Of the Pod that is to go. */
  pod: string;
  images: string[];
}

/** Somebody on the host who may say 'not now'. */
export interface UpdateLock {
  /** Undefined: go on. What cannot be read says 'not now'. */
  ask(question: UpdateLockQuery): Promise<ActiveUpdateLock | undefined>;
}

/** For hosts that pretend. */
export const NO_UPDATE_LOCK: UpdateLock = { ask: async () => undefined };

/** By whatever stands at `path`: a file holds by being there, a socket is asked. `wallClock` is what an `until` goes by. */
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
        // No file, or a socket that somebody left behind when they ended.
        if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return undefined;
        return { reason: `${path} cannot be asked: ${message}` };
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
