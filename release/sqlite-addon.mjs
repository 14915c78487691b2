/** Compiles better-sqlite3 for the Node inside the coordinator's packages, also for another architecture. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { NEWEST_COORDINATOR_NODE, nodeFolder, OWN_ARCHITECTURE } from './node-binary.mjs';

/** Prefix of the GNU compiler of an architecture. Debian: g++-aarch64-linux-gnu. */
const TOOLCHAIN = { amd64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-' };
/** node-gyp's names. */
const GYP_ARCHITECTURE = { amd64: 'x64', arm64: 'arm64' };

/** Returns why the addon cannot be compiled for this architecture, or undefined. */
export function whyNoAddon(architecture) {
  const compiler = `${TOOLCHAIN[architecture]}g++`;
  try {
    execFileSync(architecture === OWN_ARCHITECTURE ? 'g++' : compiler, ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `${compiler} is not installed (Debian: g++-${TOOLCHAIN[architecture].slice(0, -1)})`;
  }
}

/** Returns the path of the compiled addon. Compiles it, which takes minutes, unless it is cached. */
export function sqliteAddon(root, architecture) {
  const source = join(root, 'node_modules/better-sqlite3');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const name = `better-sqlite3-${version}-node-${NEWEST_COORDINATOR_NODE}-${architecture}`;
  const folder = join(homedir(), '.cache/everynode-release', name);
  const addon = join(folder, 'better_sqlite3.node');
  if (existsSync(addon)) return addon;
  const work = `${folder}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const part of ['binding.gyp', 'deps', 'src', 'package.json'])
    cpSync(join(source, part), join(work, part), { recursive: true });
  compile(work, architecture);
  const built = join(work, 'better_sqlite3.node');
  renameSync(join(work, 'build/Release/better_sqlite3.node'), built);
  const prefix = architecture === OWN_ARCHITECTURE ? '' : TOOLCHAIN[architecture];
  execFileSync(`${prefix}strip`, ['--strip-unneeded', built]);
  for (const part of ['build', 'deps', 'src']) rmSync(join(work, part), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(work, folder);
  return addon;
}

function compile(folder, architecture) {
  const npm = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim();
  const gyp = join(npm, 'npm/node_modules/node-gyp/bin/node-gyp.js');
  const prefix = architecture === OWN_ARCHITECTURE ? '' : TOOLCHAIN[architecture];
  // The path of the build must not become part of the addon, or two machines build different bytes.
  const flags = `-ffile-prefix-map=${folder}=.`;
  const headers = nodeFolder(architecture, NEWEST_COORDINATOR_NODE);
  const options = [`--nodedir=${headers}`, `--arch=${GYP_ARCHITECTURE[architecture]}`];
  execFileSync(process.execPath, [gyp, 'rebuild', '--release', ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 64 * 2 ** 20,
    env: {
      ...process.env,
      CC: `${prefix}gcc`,
      CXX: `${prefix}g++`,
      CFLAGS: flags,
      CXXFLAGS: flags,
      LDFLAGS: '-Wl,--build-id=none',
    },
  });
}
