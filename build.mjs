/** Compiles the tree into dist/ and copies what is data rather than code. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');

// An incremental build does not remove what a deleted source left behind.
if (process.argv.includes('--clean')) rmSync('dist', { recursive: true, force: true });
const compiled = spawnSync(process.execPath, [tsc, '-p', '.'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
for (const data of ['coordinator/kinds/schema', 'agent/runtime/sandbox', 'test/conformance/cases']) {
  if (existsSync(data)) {
    cpSync(data, join('dist', data), { recursive: true, filter: (path) => !path.endsWith('.ts') });
  }
}
