/**
 * Limits the rate at which Pods of nodes that are not ready are evicted. Each zone has a queue with a rate that depends
 * on the zone's state. While all zones are down, no node is released (pkg/controller/nodelifecycle,
 * zoneNoExecuteTainter).
 */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import {
  afterTaking,
  atRate,
  type Bucket,
  fullBucket,
  msToToken,
} from '../../decisions/nodes/token-bucket.js';
import {
  type EvictionRates,
  evictionRate,
  type ZoneCounts,
  type ZoneState,
  zoneState,
} from '../../decisions/nodes/zone-health.js';

/** The properties of a node that matter here. */
export interface ZoneMember {
  zone: string;
  isReady: boolean;
}

interface ZoneEvictionsDeps {
  rates: EvictionRates;
  /** Called when the Pods of this node may be evicted. */
  onEvictionAllowed: (node: string, zone: string) => void;
  /** Called when all zones went down, or at least one recovered. */
  onAllZonesDownChanged: () => void;
  clock: Clock;
  log: Logger;
}

interface Zone extends ZoneCounts {
  state: ZoneState;
  bucket: Bucket;
  /** By node: its earliest release time. Oldest first. */
  waiting: Map<string, number>;
  timer: Timer | undefined;
}

export class ZoneEvictions {
  readonly #deps: ZoneEvictionsDeps;
  readonly #zones = new Map<string, Zone>();
  readonly #zoneByWaiting = new Map<string, string>();
  readonly #released = new Set<string>();
  #downZones = 0;
  #allZonesDown = false;

  constructor(deps: ZoneEvictionsDeps) {
    this.#deps = deps;
  }

  /** True if no reporting node is Ready. Then the coordinator's own network is probably down, not the nodes. */
  get allZonesDown(): boolean {
    return this.#allZonesDown;
  }

  /** Updates the counts for a changed node, in constant time. */
  changed(previous: ZoneMember | undefined, current: ZoneMember | undefined): void {
    if (previous?.zone === current?.zone && previous?.isReady === current?.isReady) return;
    for (const [member, by] of [
      [previous, -1],
      [current, 1],
    ] as const) {
      if (!member) continue;
      const zone = this.#zone(member.zone);
      if (member.isReady) zone.ready += by;
      else zone.notReady += by;
    }
    for (const name of new Set([previous?.zone, current?.zone]))
      if (name !== undefined) this.#updateState(name);
    this.#updateAllDown();
  }

  /** True if the node was released for eviction. */
  mayEvict(node: string): boolean {
    return this.#released.has(node);
  }

  /** Queues the node for eviction. Repeated requests have no effect. */
  request(node: string, zoneName: string): void {
    if (this.#released.has(node) || this.#allZonesDown) return;
    const present = this.#zoneByWaiting.get(node);
    if (present === zoneName) return;
    if (present !== undefined) this.forget(node);
    const { clock, rates } = this.#deps;
    this.#zoneByWaiting.set(node, zoneName);
    this.#zone(zoneName).waiting.set(node, clock.monotonic() + rates.nodeMonitorPeriodMs);
    this.#setTimer(zoneName);
  }

  /** The node is Ready again, already evicting, or deleted. */
  forget(node: string): void {
    this.#released.delete(node);
    const name = this.#zoneByWaiting.get(node);
    if (name === undefined) return;
    this.#zoneByWaiting.delete(node);
    this.#zones.get(name)?.waiting.delete(node);
  }

  stop(): void {
    for (const { timer } of this.#zones.values()) timer?.cancel();
    this.#zones.clear();
  }

  #zone(name: string): Zone {
    const present = this.#zones.get(name);
    if (present) return present;
    const { rates, clock } = this.#deps;
    const bucket = fullBucket(rates.nodeEvictionRate, clock.monotonic());
    const zone: Zone = {
      ready: 0,
      notReady: 0,
      state: 'Normal',
      bucket,
      waiting: new Map(),
      timer: undefined,
    };
    this.#zones.set(name, zone);
    return zone;
  }

  #updateState(name: string): void {
    const { rates, log } = this.#deps;
    const zone = this.#zone(name);
    const state = zoneState(zone, rates.unhealthyZoneThreshold);
    if (state !== zone.state) {
      const { ready, notReady } = zone;
      log.info({ zone: name, from: zone.state, to: state, ready, notReady }, 'zone changed state');
      this.#downZones += Number(state === 'FullDisruption') - Number(zone.state === 'FullDisruption');
      zone.state = state;
    }
    if (zone.ready + zone.notReady === 0) {
      zone.timer?.cancel();
      this.#zones.delete(name);
      return;
    }
    this.#setRate(name, zone);
  }

  #updateAllDown(): void {
    const allDown = this.#zones.size > 0 && this.#downZones === this.#zones.size;
    if (allDown === this.#allZonesDown) return;
    this.#allZonesDown = allDown;
    this.#deps.log.info(
      { allDown },
      allDown
        ? 'all zones are down: evictions are suspended'
        : 'at least one zone has recovered: evictions resume',
    );
    if (allDown) {
      this.#released.clear();
      this.#zoneByWaiting.clear();
    }
    for (const [name, zone] of this.#zones) {
      if (allDown) zone.waiting.clear();
      this.#setRate(name, zone);
    }
    this.#deps.onAllZonesDownChanged();
  }

  #setRate(name: string, zone: Zone): void {
    const { rates, clock } = this.#deps;
    const rate = this.#allZonesDown ? 0 : evictionRate(zone.state, zone, rates);
    const bucket = atRate(zone.bucket, rate, clock.monotonic());
    if (bucket === zone.bucket) return;
    zone.bucket = bucket;
    this.#setTimer(name);
  }

  /** Sets a timer for the oldest node and the next token. */
  #setTimer(name: string): void {
    const zone = this.#zones.get(name);
    zone?.timer?.cancel();
    const next = zone?.waiting.values().next().value;
    if (!zone || next === undefined) return;
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const delayMs = Math.max(next - now, msToToken(zone.bucket, now));
    if (delayMs === Number.POSITIVE_INFINITY) return;
    zone.timer = clock.after(delayMs, () => this.#releaseNext(name));
  }

  #releaseNext(name: string): void {
    const zone = this.#zones.get(name);
    if (!zone) return;
    const now = this.#deps.clock.monotonic();
    const [first] = zone.waiting;
    if (first && first[1] <= now && msToToken(zone.bucket, now) === 0) {
      const [node] = first;
      zone.bucket = afterTaking(zone.bucket, now);
      this.forget(node);
      this.#released.add(node);
      this.#deps.onEvictionAllowed(node, name);
    }
    this.#setTimer(name);
  }
}
