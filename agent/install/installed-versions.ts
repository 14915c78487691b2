/** The versions of the program that a host holds, and which of them runs. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isReleaseVersion } from '../../shared/process/release-version.js';
import { isSingleExecutable } from '../../shared/process/service/child-program.js';
import { installFile, installLink } from '../../shared/process/service/host-commands.js';
import { PROGRAM } from './install-paths.js';

export class InstalledVersions {
  constructor(readonly directory: string) {}

  /** Path of a version's program, whether it is there or not. */
  program(version: string): string {
    return join(this.directory, version, PROGRAM);
  }

  has(version: string): boolean {
    return existsSync(this.program(version));
  }

  /** What runs at the next start; undefined before the first installation. */
  get current(): string | undefined {
    return this.#linked('current');
  }

  /** What ran before, or runs when that has failed: the recovery unit starts it. */
  get previous(): string | undefined {
    return this.#linked('previous');
  }

  /** Puts the program that runs now here as `version`: a copy of the executable, or a command that starts Node with it. */
  installSelf(version: string): void {
    const target = this.program(version);
    mkdirSync(join(this.directory, version), { recursive: true, mode: 0o700 });
    if (isSingleExecutable()) {
      if (process.execPath === target) return;
      // A program that runs cannot be overwritten, but another can take its name.
      copyFileSync(process.execPath, `${target}.new`);
      renameSync(`${target}.new`, target);
    } else {
      // Where the program really is: the name it was called by may become a link to this very file.
      const script = realpathSync(process.argv[1] ?? '');
      // Do not write Node's flags here: after an upgrade of Node the service would not start if Node refused one of them.
      const start = join(dirname(script), 'everynode-agent.sh');
      const text = `#!/bin/sh\nEVERYNODE_NODE=${quoted(process.execPath)} exec ${quoted(start)} "$@"\n`;
      installFile(target, text, 0o755);
    }
  }

  /** From the next start on, `version` runs. One that is there already changes nothing. */
  activate(version: string): void {
    const before = this.current;
    if (before !== undefined && before !== version) installLink(join(this.directory, 'previous'), before);
    installLink(join(this.directory, 'current'), version);
    if (this.previous === undefined) installLink(join(this.directory, 'previous'), version);
  }

  /** `version` has reached the coordinator, or was chosen by a person: people's commands are its own. One on trial may hang. */
  markProven(version: string): void {
    if (this.#linked('proven') !== version) installLink(join(this.directory, 'proven'), version);
  }

  /** `version` runs from the next start on, and is what a recovery starts too: the one that runs now has failed. */
  rollBackTo(version: string): void {
    for (const name of ['current', 'previous']) installLink(join(this.directory, name), version);
  }

  /** Removes all but what runs, what ran before, and `keep`. */
  prune(keep: string): void {
    const kept = new Set([keep, this.current, this.previous]);
    for (const name of readdirSync(this.directory)) {
      if (isReleaseVersion(name) && !kept.has(name)) rmSync(join(this.directory, name), { recursive: true });
    }
  }

  #linked(name: string): string | undefined {
    try {
      return readlinkSync(join(this.directory, name));
    } catch {
      return undefined;
    }
  }
}

/** As a POSIX shell reads it back. The words are paths of this installation, never anything that came over the wire. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
