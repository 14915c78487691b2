/** What setting up a service needs of the host: commands without a shell in between, files, root and systemd. */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { EXIT_CODES, ExitError } from '../exit-error.js';

/** Runs a program to its end; answers what it printed. Throws `ExitError` with its words when it fails. */
export function runCommandOnHost(program: string, ...args: readonly string[]): string {
  const done = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status === 0) return done.stdout.trim();
  const why = done.error?.message ?? (done.stderr.trim() || `it ended with ${done.status ?? done.signal}`);
  throw new ExitError(EXIT_CODES.environment, `${[program, ...args].join(' ')} failed: ${why}`);
}

/** Whether the program ends well; nothing is printed. */
export function commandSucceeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Throws `ExitError` unless this is root on a host that systemd runs. `what` begins the sentence. */
export function requireSystemd(what: string): void {
  if (process.getuid?.() !== 0) throw new ExitError(EXIT_CODES.environment, `${what} needs root: use sudo.`);
  if (existsSync('/run/systemd/system')) return;
  throw new ExitError(EXIT_CODES.environment, `${what} needs a host that systemd runs.`);
}

/** Throws `ExitError` when one of these files could not be made, in its folder or the nearest above that there is. `what` begins the sentence. */
export function requireWritable(what: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    try {
      accessSync(nearestFolder(dirname(path)), constants.W_OK);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ExitError(
        EXIT_CODES.environment,
        `${what} cannot write ${path}: ${why}. Nothing was changed.`,
      );
    }
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Replaces a public file whole; answers whether its text is another than before. Makes its folder, for all to read. */
export function installFile(path: string, text: string | Uint8Array, mode = 0o644): boolean {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(text))) {
    chmodSync(path, mode);
    return false;
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(`${path}.new`, text, { mode });
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
  return true;
}

/** Makes `path` a link to `target`, in one step: whoever looks sees the old or the new. */
export function installLink(path: string, target: string): void {
  rmSync(`${path}.new`, { force: true });
  symlinkSync(target, `${path}.new`);
  renameSync(`${path}.new`, path);
}

/** Whether nothing is at `path`, or a link to something in `folder`: what others put there is theirs. */
export function isAbsentOrOwnLink(path: string, folder: string): boolean {
  try {
    return readlinkSync(path).startsWith(`${folder}/`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
