/** The nodes of a rollout by the hours in which their Pods may be replaced: what time changes is seen once for all of a zone. */
import {
  compileMaintenanceSchedules,
  type MaintenanceSchedule,
  type MaintenanceScheduleSpec,
  type MaintenanceState,
  nextReplacementTime,
} from '../../../shared/calendar/maintenance-schedule.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';

interface Zone {
  own: MaintenanceSchedule;
  names: Set<string>;
  hours: MaintenanceState;
}

export class WindowIndex {
  readonly #classOf: (labels: Labels | undefined) => MaintenanceSchedule;
  /** Labels are shared and never change: a node's are classified once. */
  readonly #classes = new WeakMap<Labels, MaintenanceSchedule>();
  readonly #zones = new Map<string, Zone>();
  readonly #zoneOf = new Map<string, Zone>();
  /** The time of the last `turn`. */
  #turnedTo = Number.NEGATIVE_INFINITY;
  /** When the first zone's hours may change. */
  #next: number | undefined;
  /** Of the zones that forbid replacements now, by their keys; cached with their hours. */
  #openings: Map<string, number | undefined> | undefined;

  /** `times` have passed validation. */
  constructor(times: MaintenanceScheduleSpec) {
    this.#classOf = compileMaintenanceSchedules(times);
  }

  /** A node as its labels have it now, ms since the epoch. */
  put(name: string, labels: Labels | undefined, now: number): void {
    const own = this.#classify(labels);
    const before = this.#zoneOf.get(name);
    if (before?.own === own) return;
    before?.names.delete(name);
    const zone = this.#zones.get(own.key) ?? this.#open(own, now);
    zone.names.add(name);
    this.#zoneOf.set(name, zone);
  }

  remove(name: string): void {
    this.#zoneOf.get(name)?.names.delete(name);
    this.#zoneOf.delete(name);
  }

  /** As of the last `turn`; undefined for a node that was not put. */
  hoursOf(name: string): MaintenanceState | undefined {
    return this.#zoneOf.get(name)?.hours;
  }

  /** Moves on to `now`, or back to it; answers the nodes of zones where replacements became allowed or forbidden. */
  advance(now: number): string[] {
    const wasSetBack = now < this.#turnedTo;
    this.#turnedTo = now;
    if (!wasSetBack && (this.#next === undefined || now < this.#next)) return [];
    const turned: string[] = [];
    for (const zone of this.#zones.values()) {
      const { replace } = zone.hours;
      zone.hours = zone.own.at(now);
      if (zone.hours.replace !== replace) for (const name of zone.names) turned.push(name);
    }
    this.#reckon();
    return turned;
  }

  /** When `turn` has something to do again. */
  get next(): number | undefined {
    return this.#next;
  }

  /** When the first of the zones opens that forbid replacements now. */
  nextWindowOpening(now: number): number | undefined {
    return earliest(
      [...this.#openingsAt(now)].map(([key, at]) => (this.#zones.get(key)?.names.size ? at : undefined)),
    );
  }

  /** When the zone allows replacements, now or later; undefined: not within what can be seen. */
  openingOf(key: string, now: number): number | undefined {
    if (this.#zones.get(key)?.hours.replace) return now;
    return this.#openingsAt(now).get(key);
  }

  /** The key of the node's zone; undefined for one that was not put. */
  keyOf(name: string): string | undefined {
    return this.#zoneOf.get(name)?.own.key;
  }

  #openingsAt(now: number): Map<string, number | undefined> {
    this.#openings ??= new Map(
      [...this.#zones]
        .filter(([, { hours }]) => !hours.replace)
        .map(([key, { own }]) => [key, nextReplacementTime(own, now)]),
    );
    return this.#openings;
  }

  #classify(labels: Labels | undefined): MaintenanceSchedule {
    if (!labels) return this.#classOf(labels);
    const known = this.#classes.get(labels);
    if (known) return known;
    const found = this.#classOf(labels);
    this.#classes.set(labels, found);
    return found;
  }

  #open(own: MaintenanceSchedule, now: number): Zone {
    const zone = { own, names: new Set<string>(), hours: own.at(now) };
    this.#zones.set(own.key, zone);
    this.#reckon();
    return zone;
  }

  #reckon(): void {
    this.#next = earliest([...this.#zones.values()].map(({ hours }) => hours.until));
    this.#openings = undefined;
  }
}

/** The first of some times; undefined where there is none. */
export function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
