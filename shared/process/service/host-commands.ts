/** Operations to install a service: commands without a shell, files, and checks for root and systemd. */
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

/** Runs a program and returns its standard output. Throws `ExitError` with its error output if it fails. */
export function runCommandOnHost(program: string, ...args: readonly string[]): string {
  const done = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status === 0) return done.stdout.trim();
  const why = done.error?.message ?? (done.stderr.trim() || `exit status ${done.status ?? done.signal}`);
  throw new ExitError(EXIT_CODES.environment, `${[program, ...args].join(' ')} failed: ${why}`);
}

/** Returns true if the program exits with 0. Its output is discarded. */
export function commandSucceeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Throws `ExitError` unless the process is root on a host with systemd. `what` is the subject of the sentence. */
export function requireSystemd(what: string): void {
  if (process.getuid?.() !== 0)
    throw new ExitError(EXIT_CODES.environment, `${what} must run as root: use sudo.`);
  if (existsSync('/run/systemd/system')) return;
  throw new ExitError(EXIT_CODES.environment, `${what} requires a host with systemd.`);
}

/** Throws `ExitError` if one of these files could not be created. `what` is the subject of the sentence. */
export function requireWritable(what: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    try {
      accessSync(nearestFolder(dirname(path)), constants.W_OK);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ExitError(
        EXIT_CODES.environment,
        `${what} cannot write ${path}: ${why}. No file was changed.`,
      );
    }
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Writes a world-readable file atomically. Creates its directory. Returns false if nothing changed. */
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

/** Points a symbolic link to `target` atomically. */
export function installLink(path: string, target: string): void {
  rmSync(`${path}.new`, { force: true });
  symlinkSync(target, `${path}.new`);
  renameSync(`${path}.new`, path);
}

/** Returns true if nothing exists at `path`, or only a link into `folder`. Anything else belongs to another package. */
export function isAbsentOrOwnLink(path: string, folder: string): boolean {
  try {
    return readlinkSync(path).startsWith(`${folder}/`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
