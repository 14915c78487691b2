/** Resizing the terminal of a process that the engine may not have started yet. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { dockerExec } from '../../../agent/runtime/docker/docker-exec.js';

/** The process appears at the poll `startsAt`; the engine accepts a new size from the attempt `acceptsAt`. */
async function resizeAttempts(startsAt: number, acceptsAt: number) {
  const socket = new PassThrough();
  let polls = 0;
  let attempts = 0;
  const json = async ({ path }: { path: string }) => {
    if (path.endsWith('/exec')) return { Id: 'e' };
    if (path.endsWith('/json')) {
      polls += 1;
      return { Running: true, ExitCode: null, Pid: polls >= startsAt ? 42 : 0 };
    }
    attempts += 1;
    if (attempts < acceptsAt) throw new Error(`refused attempt ${attempts}`);
    return undefined;
  };
  const api = { json, hijack: async () => socket, bytesOf: () => socket } as unknown as DockerApi;
  const { signal } = new AbortController();
  const process = await dockerExec(api, 'c', { command: ['sh'], stdin: true, tty: true }, signal);
  const failure = await process.resize({ width: 80, height: 24 }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  process.close();
  return { attempts, failure };
}

const CASES: [rule: string, startsAt: number, acceptsAt: number, attempts: number, failure?: string][] = [
  ['an accepted size is sent once, although the process does not exist yet', 9, 1, 1],
  ['a size that is refused before the process exists is sent again', 9, 3, 3],
  ['a size that a running process refuses fails at once', 1, 9, 1, 'refused attempt 1'],
  ['a size that is refused before and after the start fails', 3, 9, 3, 'refused attempt 3'],
];

for (const [rule, startsAt, acceptsAt, attempts, failure] of CASES)
  test(rule, async () => assert.deepEqual(await resizeAttempts(startsAt, acceptsAt), { attempts, failure }));
