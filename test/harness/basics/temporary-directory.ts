/** A directory that goes when the tests of its file have ended. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach } from 'node:test';

const made: string[] = [];

process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/**
 * Makes an empty directory, removed when this process ends and not with its test: what a test wants done at its end is done in the
 * order in which it was asked for, so its programs may still write there then; and a removal that fails would keep the rest from
 * being done, the end of those programs among it.
 */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'everynode-test-'));
  made.push(path);
  return path;
}

/** Gives each test of this file or `describe` an empty directory of its own, by way of `prepare`. */
export function withDirectoryEach(prepare: (path: string) => void): void {
  beforeEach(() => prepare(temporaryDirectory()));
}
