import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { test } from 'node:test';

/** The requirement. */
const MAX_BYTES = 2 * 1024 * 1024;

test('100 Services with 64 endpoints each need at most 2 MiB', async () => {
  const program = new URL('../../harness/services/table-memory-process.js', import.meta.url);
  const child = fork(program, { execArgv: ['--expose-gc'] });
  const bytes = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)));
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });
  assert.ok(bytes > 0 && bytes <= MAX_BYTES, `${bytes} bytes`);
});
