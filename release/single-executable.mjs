/** One file that is Node and the agent: https://nodejs.org/api/single-executable-applications.html. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeBinary, OWN_ARCHITECTURE } from './node-binary.mjs';

/** Where Node looks for the program; the last part is fixed by Node. */
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
/** As `shared/process/service/child-program.ts` has them for a Node of this age. */
const FLAGS = ['--lite-mode', '--max-semi-space-size=1', '--max-old-space-size=128'];
const STRIP = { amd64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' };

/**
 * Writes the executable `target` for an architecture out of its Node and the bundle. `folder` is for what lies in between.
 * Only for the own architecture is the program compiled in advance: compiled code is a processor's.
 */
export async function makeExecutable({ architecture, bundle, folder, target, say }) {
  const stripped = join(folder, `node-${architecture}`);
  copyFileSync(nodeBinary(architecture), stripped);
  chmodSync(stripped, 0o755);
  // Before the program goes in: afterwards it would be cut off.
  strip(architecture, stripped, say);
  const settings = join(folder, `${architecture}.json`);
  const blob = join(folder, `${architecture}.blob`);
  const isOwn = architecture === OWN_ARCHITECTURE;
  const wish = { main: bundle, output: blob, disableExperimentalSEAWarning: true, execArgv: FLAGS };
  writeFileSync(settings, JSON.stringify({ ...wish, useCodeCache: isOwn }));
  // The same flags, for compiled code fits one set of them alone.
  execFileSync(nodeBinary(OWN_ARCHITECTURE), ['--lite-mode', '--experimental-sea-config', settings], {
    stdio: 'ignore',
  });
  copyFileSync(stripped, target);
  const { inject } = (await import('postject')).default;
  await inject(target, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: SENTINEL });
}

function strip(architecture, file, say) {
  for (const program of [STRIP[architecture], ...(architecture === OWN_ARCHITECTURE ? ['strip'] : [])]) {
    try {
      execFileSync(program, [file], { stdio: 'ignore' });
      return;
    } catch {
      // Not installed here, or made for other files.
    }
  }
  say(`no ${STRIP[architecture]} here: the executable for ${architecture} keeps Node's symbols`);
}
