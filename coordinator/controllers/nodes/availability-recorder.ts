/**
 * Records when hosts were not Ready, for the availability of the last day and week. A host without outages costs nothing.
 * Changes are stored at most once a minute. Every `SEEN_MS` the time is stored too: what lies between the last stored time
 * and the next start was observed by no coordinator.
 */
import type { AvailabilitySums, HostAvailability } from '../../../shared/kube/fleet/availability-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Component } from '../../../shared/process/service/program-lifecycle.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import {
  gapsUntil,
  type ObservationGap,
  shareOf,
  withGap,
} from '../../decisions/nodes/availability-share.js';
import { type FleetShares, FleetSums } from '../../decisions/nodes/fleet-sums.js';
import {
  decodeOutages,
  type HostRecord,
  observeReady,
  recordUntil,
  WEEK_SECONDS,
} from '../../decisions/nodes/outage-history.js';
import type { Informers } from '../../informers/informer.js';
import { RecentAnswers } from './recent-answers.js';

const DAY_SECONDS = 86_400;
const SAVE_MS = 60_000;
const SEEN_MS = 5 * 60_000;
/** Tabs of the console ask once a minute, and an answer costs time for each host. */
const ANSWER_MS = 60_000;

/** When coordinators observed the hosts. */
export interface StoredObservation {
  /** The last time at which a coordinator ran, in seconds. */
  seen: number;
  gaps: readonly ObservationGap[];
}

/** Hosts without a record have had no outage in the last week. */
export interface AvailabilityStorage {
  load(): Promise<{ observation: StoredObservation | undefined; hosts: Map<string, HostRecord> }>;
  /**
   * Stores each record, and `observation` when all records are stored: after a crash in between, the time since the last
   * save is unknown. Undefined deletes the record of a host.
   */
  save(hosts: ReadonlyMap<string, HostRecord | undefined>, observation: StoredObservation): Promise<void>;
}

interface RecorderDeps {
  informers: Informers;
  storage: AvailabilityStorage;
  clock: Clock;
  log: Logger;
}

export class AvailabilityRecorder implements Component {
  readonly name = 'availability';
  readonly #deps: RecorderDeps;
  readonly #slice: TimeSlice;
  readonly #answers: RecentAnswers<string | undefined, FleetShares>;
  #hosts = new Map<string, HostRecord>();
  #gaps: readonly ObservationGap[] = [];
  readonly #changed = new Set<string>();
  #savedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #saving: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#slice = new TimeSlice(deps.clock);
    this.#answers = new RecentAnswers(deps.clock, ANSWER_MS);
  }

  async start(): Promise<void> {
    const { storage, informers } = this.#deps;
    const { observation, hosts } = await storage.load();
    await informers.nodes.synced();
    this.#hosts = hosts;
    const now = this.#now();
    const { seen, gaps } = observation ?? { seen: 0, gaps: [] };
    this.#gaps = withGap(gapsUntil(gaps, now), { from: seen, to: now }, now - WEEK_SECONDS);
    this.#cutOutages(now);
    for (const name of hosts.keys()) if (!informers.nodes.get({ name })) this.#forget(name);
    informers.nodes.onChange(({ previous, current }) => {
      if (current) this.#observe(current);
      else if (previous) this.#forget(previous.metadata.name);
    });
    this.#scheduleSave();
  }

  async stop(): Promise<void> {
    // A save that is running would schedule the next one when it ends.
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#saving;
    await this.#save();
  }

  /** Call it when the clock was set: what ends after the present time was recorded while the clock was ahead. */
  onClockStep(): void {
    const now = this.#now();
    this.#gaps = gapsUntil(this.#gaps, now);
    this.#cutOutages(now);
    this.#answers.clear();
    // The next save is due, also if no host has changed.
    this.#savedAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns undefined for an unknown host, and for one that has never reported. */
  of(name: string): HostAvailability | undefined {
    const node = this.#deps.informers.nodes.get({ name });
    if (!node || !readyOf(node)) return undefined;
    const now = this.#now();
    const record = this.#hosts.get(name);
    const since = now - WEEK_SECONDS;
    const text = (seconds: number) => toTimestamp(seconds * 1000);
    const past = decodeOutages(record?.past ?? '').filter(({ from, to }) => to > since && from < now);
    const outages: HostAvailability['outages'] = past.map(({ from, to, down }) => ({
      ...{ from: text(from), to: text(to), downSeconds: down },
    }));
    const downSince = record?.downSince;
    if (downSince !== undefined)
      outages.push({ from: text(downSince), downSeconds: Math.max(0, now - downSince) });
    const begin = Math.max(since, beginOf(node));
    const unknown = this.#gaps
      .filter(({ to }) => to > begin)
      .map(({ from, to }) => ({ from: text(Math.max(from, begin)), to: text(to) }));
    return { ...this.#sumsOf(node, now), outages, unknown };
  }

  /** `by`: a label whose values divide the hosts into groups. The answer can be `ANSWER_MS` old. */
  fleet(by: string | undefined): Promise<FleetShares> {
    return this.#answers.get(by, () => this.#sumFleet(by));
  }

  async #sumFleet(by: string | undefined): Promise<FleetShares> {
    const now = this.#now();
    const sums = new FleetSums(by);
    for (const node of this.#deps.informers.nodes.list()) {
      const pause = this.#slice.yieldIfUsedUp();
      if (pause) await pause;
      sums.add(node.metadata.labels, readyOf(node) && this.#sumsOf(node, now));
    }
    return sums.result();
  }

  #now(): number {
    return Math.floor(this.#deps.clock.now() / 1000);
  }

  #observe(node: Node): void {
    const { name } = node.metadata;
    const ready = readyOf(node);
    const known = this.#hosts.get(name);
    const changedAt = Date.parse(ready?.lastTransitionTime ?? '') / 1000;
    const next = observeReady(known, ready?.status, changedAt, this.#now());
    if (next === known) return;
    if (next) this.#hosts.set(name, next);
    else this.#hosts.delete(name);
    this.#changed.add(name);
  }

  #cutOutages(now: number): void {
    for (const [name, record] of this.#hosts) {
      const next = recordUntil(record, now);
      if (next === record) continue;
      this.#hosts.set(name, next);
      this.#changed.add(name);
    }
  }

  #forget(name: string): void {
    if (this.#hosts.delete(name)) this.#changed.add(name);
  }

  #sumsOf(node: Node, now: number): AvailabilitySums {
    const record = this.#hosts.get(node.metadata.name);
    const outages = record ? decodeOutages(record.past) : [];
    const downSince = record?.downSince;
    if (downSince !== undefined && downSince < now)
      outages.push({ from: downSince, to: now, down: now - downSince });
    const history = { begin: beginOf(node), outages };
    return {
      day: shareOf(history, this.#gaps, now - DAY_SECONDS, now),
      week: shareOf(history, this.#gaps, now - WEEK_SECONDS, now),
    };
  }

  #scheduleSave(): void {
    this.#timer = this.#deps.clock.after(SAVE_MS, () => {
      const isDue = this.#deps.clock.monotonic() - this.#savedAt >= SEEN_MS;
      const hasHosts = this.#deps.informers.nodes.size > 0;
      this.#saving = this.#changed.size > 0 || (isDue && hasHosts) ? this.#save() : Promise.resolve();
      void this.#saving.then(() => {
        if (!this.#isStopped) this.#scheduleSave();
      });
    });
  }

  /** What could not be stored is stored with the next changes. */
  async #save(): Promise<void> {
    const { storage, clock, log } = this.#deps;
    const names = [...this.#changed];
    this.#changed.clear();
    try {
      await storage.save(new Map(names.map((name) => [name, this.#hosts.get(name)])), {
        seen: this.#now(),
        gaps: this.#gaps,
      });
      this.#savedAt = clock.monotonic();
    } catch (error) {
      for (const name of names) this.#changed.add(name);
      log.warn({ err: error }, 'the availability of hosts could not be stored');
    }
  }
}

/** A Node without a host has no such condition. */
function readyOf({ status }: Node) {
  return findCondition(status?.conditions, 'Ready');
}

function beginOf({ metadata }: Node): number {
  return Math.floor(Date.parse(metadata.creationTimestamp ?? '') / 1000) || 0;
}
