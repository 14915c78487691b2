/** Builds one executable of Node and the agent: https://nodejs.org/api/single-executable-applications.html. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { nodeBinary, OWN_ARCHITECTURE } from './node-binary.mjs';

/** Marker in Node's executable, defined by Node. */
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
/** As `shared/process/service/child-program.ts` has them for a Node of this age. */
const FLAGS = ['--lite-mode', '--max-semi-space-size=1', '--max-old-space-size=128'];
const STRIP = { amd64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' };

/**
 * Writes the executable `target` for an architecture, from its Node and the bundle. `folder` is for temporary files.
 * The program is precompiled only for this machine's architecture, because compiled code depends on the CPU.
 */
export async function makeExecutable({ architecture, bundle, folder, target, say }) {
  const stripped = join(folder, `node-${architecture}`);
  copyFileSync(nodeBinary(architecture), stripped);
  chmodSync(stripped, 0o755);
  // Strip before the program is added: afterwards `strip` would remove it.
  stripSymbols(architecture, stripped, say);
  const settings = join(folder, `${architecture}.json`);
  const blob = join(folder, `${architecture}.blob`);
  const isOwn = architecture === OWN_ARCHITECTURE;
  const options = {
    main: relative(folder, bundle),
    output: blob,
    disableExperimentalSEAWarning: true,
    execArgv: FLAGS,
  };
  writeFileSync(settings, JSON.stringify({ ...options, useCodeCache: isOwn }));
  // Use the same flags as the executable: compiled code is valid for one set of flags only. The seed is not one of them.
  // Without it two builds differ. The blob contains the path of `main`, so it must be relative.
  const flags = ['--lite-mode', '--random-seed=1', '--experimental-sea-config', settings];
  execFileSync(nodeBinary(OWN_ARCHITECTURE), flags, { cwd: folder, stdio: 'ignore' });
  copyFileSync(stripped, target);
  const { inject } = (await import('postject')).default;
  await inject(target, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: SENTINEL });
}

/** Removes symbols from an executable, a tenth of its size. Without the tool of the architecture it keeps them. */
export function stripSymbols(architecture, file, say) {
  for (const program of [STRIP[architecture], ...(architecture === OWN_ARCHITECTURE ? ['strip'] : [])]) {
    try {
      execFileSync(program, [file], { stdio: 'ignore' });
      return;
    } catch {
      // The program is not installed, or does not know the architecture.
    }
  }
  say(`${STRIP[architecture]} is not installed: the executable for ${architecture} keeps Node's symbols`);
}
