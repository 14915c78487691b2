/**
 * Whose turn it is to be emptied: nodes that are not ready wait in a queue of their zone, which lets them through at the
 * rate that the zone's state allows, and nobody while all zones are down (pkg/controller/nodelifecycle, zoneNoExecuteTainter).
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

/** What counts of a node here. */
export interface ZoneMember {
  zone: string;
  isReady: boolean;
}

interface ZoneEvictionsDeps {
  rates: EvictionRates;
  /** This node of this zone may be emptied now. */
  onEvictionAllowed: (node: string, zone: string) => void;
  /** All zones went down, or no longer are. */
  onAllZonesDownChanged: () => void;
  clock: Clock;
  log: Logger;
}

interface Zone extends ZoneCounts {
  state: ZoneState;
  bucket: Bucket;
  /** By node: from when on it may be let through. Oldest first. */
  waiting: Map<string, number>;
  timer: Timer | undefined;
}

export class ZoneEvictions {
  readonly #parts: ZoneEvictionsDeps;
  readonly #zones = new Map<string, Zone>();
  readonly #zoneByWaiting = new Map<string, string>();
  readonly #turns = new Set<string>();
  #downZones = 0;
  #allDark = false;

  constructor(parts: ZoneEvictionsDeps) {
    this.#parts = parts;
  }

  /** There are nodes that have reported, and not one of them is Ready: that says more of our own network than of theirs. */
  get allZonesDown(): boolean {
    return this.#allDark;
  }

  /** A node came, changed or went: costs the same however many there are. */
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
    for (const name of new Set([previous?.zone, current?.zone])) if (name !== undefined) this.#judge(name);
    this.#judgeAll();
  }

  /** The node's turn has come. */
  mayEvict(node: string): boolean {
    return this.#turns.has(node);
  }

  /** The node should be emptied when its turn comes; once asked for is enough. */
  request(node: string, zoneName: string): void {
    if (this.#turns.has(node) || this.#allDark) return;
    const present = this.#zoneByWaiting.get(node);
    if (present === zoneName) return;
    if (present !== undefined) this.forget(node);
    const { clock, rates } = this.#parts;
    this.#zoneByWaiting.set(node, zoneName);
    this.#zone(zoneName).waiting.set(node, clock.monotonic() + rates.nodeMonitorPeriodMs);
    this.#arm(zoneName);
  }

  /** The node is well again, is emptied already, or is no more. */
  forget(node: string): void {
    this.#turns.delete(node);
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
    const { rates, clock } = this.#parts;
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

  #judge(name: string): void {
    const { rates, log } = this.#parts;
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

  #judgeAll(): void {
    const allDark = this.#zones.size > 0 && this.#downZones === this.#zones.size;
    if (allDark === this.#allDark) return;
    this.#allDark = allDark;
    this.#parts.log.info({ allDark }, allDark ? 'all zones are down: nobody is evicted' : 'zones are back');
    if (allDark) {
      this.#turns.clear();
      this.#zoneByWaiting.clear();
    }
    for (const [name, zone] of this.#zones) {
      if (allDark) zone.waiting.clear();
      this.#setRate(name, zone);
    }
    this.#parts.onAllZonesDownChanged();
  }

  #setRate(name: string, zone: Zone): void {
    const { rates, clock } = this.#parts;
    const rate = this.#allDark ? 0 : evictionRate(zone.state, zone, rates);
    const bucket = atRate(zone.bucket, rate, clock.monotonic());
    if (bucket === zone.bucket) return;
    zone.bucket = bucket;
    this.#arm(name);
  }

  /** Sleeps until the oldest may go and there is a token for it. */
  #arm(name: string): void {
    const zone = this.#zones.get(name);
    zone?.timer?.cancel();
    const next = zone?.waiting.values().next().value;
    if (!zone || next === undefined) return;
    const { clock } = this.#parts;
    const now = clock.monotonic();
    const delayMs = Math.max(next - now, msToToken(zone.bucket, now));
    if (delayMs === Number.POSITIVE_INFINITY) return;
    zone.timer = clock.after(delayMs, () => this.#letThrough(name));
  }

  #letThrough(name: string): void {
    const zone = this.#zones.get(name);
    if (!zone) return;
    const now = this.#parts.clock.monotonic();
    const [first] = zone.waiting;
    if (first && first[1] <= now && msToToken(zone.bucket, now) === 0) {
      const [node] = first;
      zone.bucket = afterTaking(zone.bucket, now);
      this.forget(node);
      this.#turns.add(node);
      this.#parts.onEvictionAllowed(node, name);
    }
    this.#arm(name);
  }
}
