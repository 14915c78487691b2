/** A directory that goes with its test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, type TestContext } from 'node:test';

/**
 * What a test wants done at its end is done in the order in which it was asked for, so a program may still write there when its
 * directory goes; and a removal that fails keeps the rest from being done, the end of that program among it.
 */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

/** Makes an empty directory, removed when the test has ended. */
export function temporaryDirectory(context: Pick<TestContext, 'after'>): string {
  const path = mkdtempSync(join(tmpdir(), 'everynode-test-'));
  context.after(() => rmSync(path, REMOVAL));
  return path;
}

/** Gives each test of this file or `describe` an empty directory of its own, by way of `prepare`. */
export function withDirectoryEach(prepare: (path: string) => void): void {
  let remove: () => void = () => undefined;
  beforeEach(() => {
    const after = (action: () => void) => {
      remove = action;
    };
    prepare(temporaryDirectory({ after }));
  });
  afterEach(() => remove());
}
