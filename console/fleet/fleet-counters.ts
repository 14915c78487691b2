/** Incremental counts of the fleet: only changed hosts are evaluated. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { HOST_HEALTH_STATES, type HostHealth, hostHealth } from '../layout/status/host-health.js';
import { type FleetContext, ISSUES, type Issue, issuesOf } from './host-issues.js';
import { diffHosts } from './host-list-diff.js';

interface FleetCount {
  /** The sum is the number of hosts. */
  conditions: Readonly<Record<HostHealth, number>>;
  /** A host can have several issues. */
  issues: Readonly<Record<Issue, number>>;
}

/** Caches the last fleet. The result only depends on the arguments. */
export class FleetCounters {
  #hosts: readonly Host[] = [];
  #surroundings: FleetContext | undefined;
  #conditions = nothingOf(HOST_HEALTH_STATES);
  #issues = nothingOf(ISSUES);

  /** `hosts` must be sorted by name. */
  of(hosts: readonly Host[], surroundings: FleetContext): FleetCount {
    if (this.#surroundings !== surroundings) this.#forget(surroundings);
    const { removed, added } = diffHosts(this.#hosts, hosts);
    for (const host of removed) this.#count(host, surroundings, -1);
    for (const host of added) this.#count(host, surroundings, 1);
    this.#hosts = hosts;
    return { conditions: { ...this.#conditions }, issues: { ...this.#issues } };
  }

  #forget(surroundings: FleetContext): void {
    this.#hosts = [];
    this.#surroundings = surroundings;
    this.#conditions = nothingOf(HOST_HEALTH_STATES);
    this.#issues = nothingOf(ISSUES);
  }

  #count(host: Host, surroundings: FleetContext, by: 1 | -1): void {
    this.#conditions[hostHealth(host)] += by;
    for (const issue of issuesOf(host, surroundings)) this.#issues[issue] += by;
  }
}

function nothingOf<T extends string>(kinds: readonly T[]): Record<T, number> {
  return Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<T, number>;
}
