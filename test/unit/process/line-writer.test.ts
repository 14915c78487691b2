/** A program's log without a reader: the program must not block. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lineWriter } from '../../../shared/process/output/line-writer.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

/** More than the capacity of a pipe. */
const LONG = `${'x'.repeat(2 ** 20)}\n`;

test('a blocked reader loses lines and does not block the program; later lines are complete again', (context) => {
  const path = join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  context.after(() => closeSync(pipe));
  const write = lineWriter(pipe);
  const began = performance.now();
  write(LONG);
  for (let count = 0; count < 300; count += 1) write('lost\n');
  assert.ok(performance.now() - began < 60_000, 'none of them waits for long, and only the first waits');
  const read = (): string => {
    let text = '';
    const buffer = Buffer.alloc(2 ** 16);
    try {
      for (;;) text += buffer.toString('latin1', 0, readSync(pipe, buffer));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
      return text;
    }
  };
  assert.match(read(), /^x+$/);
  write('first\n');
  write('second\n');
  assert.equal(read(), '\nfirst\nsecond\n');
});
