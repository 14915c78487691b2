/** A wrong wall clock for a host's agent alone, or the coordinator, by Debian's libfaketime: all of a test share the machine's own. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCKS, type WrongClock } from './chaos-plan.js';

/** Where a host with systemd finds it. */
const THERE = '/opt/clock';
const LIBRARY_THERE = '/opt/libfaketime.so.1';
const ENVIRONMENT = 'environment';
const TO_1970_S = 60;

/** Debian's libfaketime; undefined where it is not installed. */
export function fakeTimeLibrary(): string | undefined {
  const paths = readdirSync('/usr/lib').map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`);
  return paths.find((path) => existsSync(path));
}

export class FakeClock {
  readonly #library = fakeTimeLibrary();
  #to: WrongClock | undefined;

  /** `folder` is made. */
  constructor(private readonly folder: string) {
    mkdirSync(folder);
  }

  /** For agents that start from now on; undefined: the truth, and nothing of ours in them. */
  set(to: WrongClock | undefined): void {
    this.#to = to;
    const path = join(this.folder, ENVIRONMENT);
    if (to === undefined) rmSync(path, { force: true });
    else writeFileSync(path, `${variables(LIBRARY_THERE, to).join('\n')}\n`);
  }

  /** `NAME=VALUE`, for a process of this machine. */
  environment(): string[] {
    return this.#library && this.#to ? variables(this.#library, this.#to) : [];
  }

  /** What a host with systemd is given. */
  get volumes(): string[] {
    return this.#library ? [`${this.#library}:${LIBRARY_THERE}:ro`, `${this.folder}:${THERE}:ro`] : [];
  }

  /** Line of a unit's section `[Service]` there. */
  get line(): string {
    return `EnvironmentFile=-${THERE}/${ENVIRONMENT}\n`;
  }
}

/** The wall clock of a program that goes on while it is set. */
export class MovedClock {
  readonly #library = fakeTimeLibrary();

  /** `path`: where the program reads how far its clock is from the truth. */
  constructor(private readonly path: string) {
    this.set(undefined);
  }

  /** undefined: the truth. The program goes by it within two seconds. */
  set(to: WrongClock | undefined): void {
    const aside = `${this.path}.new`;
    writeFileSync(aside, `${to === undefined ? '+0' : offsetOf(to)}\n`);
    renameSync(aside, this.path);
  }

  /** Of the program; empty where libfaketime is not installed. */
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

/** How far from the truth, ms. */
export function clockErrorMs(to: WrongClock): number {
  return (CLOCKS[to] ?? TO_1970_S - Math.floor(Date.now() / 1_000)) * 1_000;
}

function offsetOf(to: WrongClock): string {
  const seconds = clockErrorMs(to) / 1_000;
  return `${seconds < 0 ? '' : '+'}${seconds}`;
}

function variables(library: string, to: WrongClock): string[] {
  return [`LD_PRELOAD=${library}`, `FAKETIME=${offsetOf(to)}`, 'FAKETIME_DONT_FAKE_MONOTONIC=1'];
}
