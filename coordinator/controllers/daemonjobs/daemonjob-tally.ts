/** The states of one DaemonJob's hosts and their counts. An event changes one host, so nothing visits the fleet. */
import type { HostCounts, HostState, RunEnd } from '../../decisions/daemonjobs/daemonjob-host.js';
import type { WavePlan } from './daemonjob-wave-plan.js';

const FINAL: ReadonlySet<HostState['kind']> = new Set(['Succeeded', 'Failed', 'NotEligible']);

function noHosts(): HostCounts {
  return { Succeeded: 0, Failed: 0, Missed: 0, Active: 0, Assigned: 0, Offline: 0, Ready: 0, Waiting: 0 };
}

/** Kept in memory. After a restart it is built again from Nodes, Pods and results. */
export class DaemonJobTally {
  readonly counts = noHosts();
  /** Counts of each wave, or none. */
  readonly waves: readonly HostCounts[];
  /** How the run ends. Hosts are judged by it. */
  end: RunEnd | undefined;
  readonly #states = new Map<string, HostState['kind']>();
  /** Hosts that may start when they get a slot. */
  readonly #ready = new Set<string>();
  readonly #granted = new Set<string>();
  /** Hosts that are not visited yet. */
  readonly #unvisited: Set<string>;

  readonly #waveOf: (name: string) => number;

  constructor(names: Iterable<string>, end: RunEnd | undefined, plan?: WavePlan) {
    this.#unvisited = new Set(names);
    this.end = end;
    this.waves = Array.from({ length: plan?.count ?? 0 }, noHosts);
    this.#waveOf = plan?.waveOf ?? (() => 0);
  }

  /** False while hosts are not counted: neither slots nor a verdict can be decided. */
  get isComplete(): boolean {
    return this.#unvisited.size === 0;
  }

  get granted(): number {
    return this.#granted.size;
  }

  /** Replaces the state of a host. Returns true if the sums may have changed. */
  record(name: string, state: HostState['kind']): boolean {
    const wasUnvisited = this.#unvisited.delete(name);
    const before = this.#states.get(name);
    const wave = this.waves[this.#waveOf(name)];
    for (const counts of wave ? [this.counts, wave] : [this.counts]) {
      if (before !== undefined && before !== 'NotEligible') counts[before] -= 1;
      if (state !== 'NotEligible') counts[state] += 1;
    }
    if (state === 'NotEligible') this.#states.delete(name);
    else this.#states.set(name, state);
    if (state === 'Ready') {
      if (!this.#granted.has(name)) this.#ready.add(name);
    } else {
      this.#ready.delete(name);
      this.#granted.delete(name);
    }
    return before !== state || wasUnvisited;
  }

  isGranted(name: string): boolean {
    return this.#granted.has(name);
  }

  /** Gives slots to waiting hosts and returns their names. */
  grant(slots: number): string[] {
    const names: string[] = [];
    for (const name of this.#ready) {
      if (names.length >= slots) break;
      names.push(name);
    }
    for (const name of names) {
      this.#ready.delete(name);
      this.#granted.add(name);
    }
    return names;
  }

  /** Changes the end of the run. Returns the hosts whose state depends on it: they count as not visited. */
  endWith(end: RunEnd | undefined): string[] {
    if (end?.kind === this.end?.kind && end?.reason === this.end?.reason) return [];
    this.end = end;
    const open = [...this.#states].filter(([, state]) => !FINAL.has(state)).map(([name]) => name);
    for (const name of open) this.#unvisited.add(name);
    return open;
  }
}
