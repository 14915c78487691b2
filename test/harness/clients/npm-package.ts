/** Clients from the npm registry, installed once into ~/.cache/everynode-test without their install scripts. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const INSTALL_TIMEOUT_MS = 180_000;

/**
 * Returns the folder `node_modules` with the package, or the reason why there is none. `pinned` are dependencies of it
 * whose versions the package leaves open, as `name@version`.
 */
export function npmPackage(
  name: string,
  version: string,
  pinned: readonly string[] = [],
): { path: string } | { why: string } {
  const target = join(homedir(), '.cache', 'everynode-test', `${name.replace('/', '+')}-${version}`);
  const path = join(target, 'node_modules');
  if (existsSync(path)) return { path };
  const work = `${target}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const options = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', work];
  try {
    execFileSync('npm', [...options, `${name}@${version}`, ...pinned], {
      timeout: INSTALL_TIMEOUT_MS,
      stdio: 'ignore',
    });
  } catch {
    return { why: `npm cannot install ${name}@${version}` };
  }
  renameSync(work, target);
  return { path };
}
