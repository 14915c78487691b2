/**
 * Loads a file of the console as a Node module, for tests of logic that need no browser. The console itself is not
 * compiled for Node.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Returns the exports of a file. `path` is below `console/`. */
export async function consoleModule<T>(path: string): Promise<T> {
  // The folder is within the checkout, because external packages are resolved from there.
  const folder = mkdtempSync(join(ROOT, 'dist/test/console-module-'));
  const outfile = join(folder, 'module.mjs');
  try {
    await build({
      entryPoints: [join(ROOT, 'console', path)],
      outfile,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      jsx: 'automatic',
      logLevel: 'warning',
    });
    return (await import(pathToFileURL(outfile).href)) as T;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
