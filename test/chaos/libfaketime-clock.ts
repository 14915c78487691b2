/**
 * A wrong wall clock for one host's agent or for the coordinator, by Debian's libfaketime: the hosts share the
 * machine's own clock.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCKS, type WrongClock } from './chaos-plan.js';

/** Mount point of the files on a host with systemd. */
const THERE = '/opt/clock';
const LIBRARY_THERE = '/opt/libfaketime.so.1';
const ENVIRONMENT = 'environment';
const TO_1970_S = 60;

/** Path of Debian's libfaketime; undefined if it is not installed. */
export function fakeTimeLibrary(): string | undefined {
  const paths = readdirSync('/usr/lib').map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`);
  return paths.find((path) => existsSync(path));
}

export class FakeClock {
  readonly #library = fakeTimeLibrary();
  #to: WrongClock | undefined;

  /** Creates `folder`. */
  constructor(private readonly folder: string) {
    mkdirSync(folder);
  }

  /** Applies to agents that start from now on; undefined: the correct time, without libfaketime. */
  set(to: WrongClock | undefined): void {
    this.#to = to;
    const path = join(this.folder, ENVIRONMENT);
    if (to === undefined) rmSync(path, { force: true });
    else writeFileSync(path, `${variables(LIBRARY_THERE, to).join('\n')}\n`);
  }

  /** `NAME=VALUE` entries for a process on this machine. */
  environment(): string[] {
    return this.#library && this.#to ? variables(this.#library, this.#to) : [];
  }

  /** Volumes for a host with systemd. */
  get volumes(): string[] {
    return this.#library ? [`${this.#library}:${LIBRARY_THERE}:ro`, `${this.folder}:${THERE}:ro`] : [];
  }

  /** Line for the section `[Service]` of a unit on that host. */
  get line(): string {
    return `EnvironmentFile=-${THERE}/${ENVIRONMENT}\n`;
  }
}

/** A wall clock that can be set while its program runs. */
export class MovedClock {
  readonly #library = fakeTimeLibrary();

  /** `path`: file from which the program reads the clock's error. */
  constructor(private readonly path: string) {
    this.set(undefined);
  }

  /** undefined: the correct time. The program applies a change within two seconds. */
  set(to: WrongClock | undefined): void {
    this.step(to === undefined ? 0 : clockErrorMs(to) / 1_000);
  }

  /** Sets the clock's error, like `set`. */
  step(seconds: number): void {
    const aside = `${this.path}.new`;
    writeFileSync(aside, `${offsetText(seconds)}\n`);
    renameSync(aside, this.path);
  }

  /** Environment for the program; empty if libfaketime is not installed. */
  get environment(): Record<string, string> {
    if (!this.#library) return {};
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.path,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }
}

/** The clock's error, ms. */
export function clockErrorMs(to: WrongClock): number {
  return (CLOCKS[to] ?? TO_1970_S - Math.floor(Date.now() / 1_000)) * 1_000;
}

function offsetOf(to: WrongClock): string {
  return offsetText(clockErrorMs(to) / 1_000);
}

function offsetText(seconds: number): string {
  return `${seconds < 0 ? '' : '+'}${seconds}`;
}

function variables(library: string, to: WrongClock): string[] {
  return [`LD_PRELOAD=${library}`, `FAKETIME=${offsetOf(to)}`, 'FAKETIME_DONT_FAKE_MONOTONIC=1'];
}
