/** A directory that goes with its test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Makes an empty directory, removed when the test has ended. */
export function temporaryDirectory(context: Pick<TestContext, 'after'>): string {
  const path = mkdtempSync(join(tmpdir(), 'everynode-test-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
