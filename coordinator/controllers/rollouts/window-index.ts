/** The nodes of a rollout by maintenance schedule. A change over time is evaluated once for all nodes of a schedule. */
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
  /** Label objects are shared and never changed, so each is classified once. */
  readonly #classes = new WeakMap<Labels, MaintenanceSchedule>();
  readonly #zones = new Map<string, Zone>();
  readonly #zoneOf = new Map<string, Zone>();
  /** The last `now` of `advance`. */
  #lastNow = Number.NEGATIVE_INFINITY;
  /** When the first zone may open or close. */
  #next: number | undefined;
  /** By zone key: when a closed zone opens. Reset together with the zones' states. */
  #openings: Map<string, number | undefined> | undefined;

  /** `times` must be valid. */
  constructor(times: MaintenanceScheduleSpec) {
    this.#classOf = compileMaintenanceSchedules(times);
  }

  /** `now`: ms since the epoch. */
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

  /** As of the last `advance`. Undefined for an unknown node. */
  hoursOf(name: string): MaintenanceState | undefined {
    return this.#zoneOf.get(name)?.hours;
  }

  /** Moves the time to `now`, also backwards. Returns nodes in zones that opened or closed. */
  advance(now: number): string[] {
    const wasSetBack = now < this.#lastNow;
    this.#lastNow = now;
    if (!wasSetBack && (this.#next === undefined || now < this.#next)) return [];
    const changed: string[] = [];
    for (const zone of this.#zones.values()) {
      const { replace } = zone.hours;
      zone.hours = zone.own.at(now);
      if (zone.hours.replace !== replace) for (const name of zone.names) changed.push(name);
    }
    this.#updateNext();
    return changed;
  }

  /** When to call `advance` next. */
  get next(): number | undefined {
    return this.#next;
  }

  /** Returns when the first closed zone opens. */
  nextWindowOpening(now: number): number | undefined {
    return earliest(
      [...this.#openingsAt(now)].map(([key, at]) => (this.#zones.get(key)?.names.size ? at : undefined)),
    );
  }

  /** Returns when the zone is or will be open. Undefined: not within the range of the search. */
  openingOf(key: string, now: number): number | undefined {
    if (this.#zones.get(key)?.hours.replace) return now;
    return this.#openingsAt(now).get(key);
  }

  /** Returns the zone key of the node. Undefined for an unknown node. */
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
    this.#updateNext();
    return zone;
  }

  #updateNext(): void {
    this.#next = earliest([...this.#zones.values()].map(({ hours }) => hours.until));
    this.#openings = undefined;
  }
}

/** Returns the earliest time, or undefined if there is none. */
export function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
