/** A directory that is removed when the tests of its file have ended. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach } from 'node:test';

const made: string[] = [];

process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/**
 * Creates an empty directory that is removed when this process ends. Removing it at the end of the test would be too
 * early: its programs may still write there, and a failing removal would skip the other clean-up of the test.
 */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'everynode-test-'));
  made.push(path);
  return path;
}

/** Passes a new empty directory to `prepare` before each test of this file or `describe`. */
export function withDirectoryEach(prepare: (path: string) => void): void {
  beforeEach(() => prepare(temporaryDirectory()));
}
