/** The program's versions on this host, and the links that select which one runs. */
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

  /** Returns the path of a version's program. The file may not exist. */
  program(version: string): string {
    return join(this.directory, version, PROGRAM);
  }

  has(version: string): boolean {
    return existsSync(this.program(version));
  }

  /** The version that runs after the next start. Undefined before the first installation. */
  get current(): string | undefined {
    return this.#linked('current');
  }

  /** The version that ran before. The recovery unit starts it when the current one fails. */
  get previous(): string | undefined {
    return this.#linked('previous');
  }

  /** Installs the running program: a copy of the executable, or a script that starts Node with it. */
  installSelf(version: string): void {
    const target = this.program(version);
    mkdirSync(join(this.directory, version), { recursive: true, mode: 0o700 });
    if (isSingleExecutable()) {
      if (process.execPath === target) return;
      // A running executable cannot be overwritten, but it can be replaced.
      copyFileSync(process.execPath, `${target}.new`);
      renameSync(`${target}.new`, target);
    } else {
      // Resolve links: the name of the command may become a link to this very file.
      const script = realpathSync(process.argv[1] ?? '');
      // Do not write Node's flags here: after an upgrade of Node the service would not start if Node refused one of them.
      const start = join(dirname(script), 'everynode-agent.sh');
      const text = `#!/bin/sh\nEVERYNODE_NODE=${quoted(process.execPath)} exec ${quoted(start)} "$@"\n`;
      installFile(target, text, 0o755);
    }
  }

  /** Selects `version` for the next start. Does nothing if it is selected already. */
  activate(version: string): void {
    const before = this.current;
    if (before !== undefined && before !== version) installLink(join(this.directory, 'previous'), before);
    installLink(join(this.directory, 'current'), version);
    if (this.previous === undefined) installLink(join(this.directory, 'previous'), version);
  }

  /** Selects `version` for the operator's command once it reached the coordinator. Until then it may hang. */
  markProven(version: string): void {
    if (this.#linked('proven') !== version) installLink(join(this.directory, 'proven'), version);
  }

  /** Selects `version` for the next start and for a recovery, because the running version has failed. */
  rollBackTo(version: string): void {
    for (const name of ['current', 'previous']) installLink(join(this.directory, name), version);
  }

  /** Removes all versions except the current one, the previous one and `keep`. */
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

/** Quotes a word for a POSIX shell. The words are paths of this installation, never data from the network. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
