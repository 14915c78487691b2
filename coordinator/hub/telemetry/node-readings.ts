/** Load of each host for one hour in minutes and one day in ten minutes. In memory, 2 KB per host. */
import type { HostReadings } from '../../../shared/kube/fleet/host-reading-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { decodeHeartbeatReading } from '../../../shared/link/heartbeat-reading.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { NodeLiveness } from '../sessions/node-liveness.js';
import { ReadingRing } from './reading-ring.js';

const MINUTE = 60;
const HOUR_OF_MINUTES = 60;
const TEN_MINUTES = 600;
const DAY_OF_TEN_MINUTES = 144;

interface Rings {
  recent: ReadingRing;
  day: ReadingRing;
}

export class NodeReadings {
  readonly #clock: Clock;
  readonly #liveness: Pick<NodeLiveness, 'lastSeenMs'>;
  readonly #byNode = new Map<string, Rings>();

  constructor(clock: Clock, liveness: Pick<NodeLiveness, 'lastSeenMs'>) {
    this.#clock = clock;
    this.#liveness = liveness;
  }

  /** Records the payload of a ping if it is a reading. */
  record(node: string, bytes: Uint8Array): void {
    const reading = decodeHeartbeatReading(bytes);
    if (!reading) return;
    const rings = this.#byNode.get(node) ?? this.#begin(node);
    const now = this.#clock.now();
    rings.recent.add(now, reading);
    rings.day.add(now, reading);
  }

  /** Returns empty columns for a host without readings. */
  of(node: string): Pick<HostReadings, 'lastContactTime' | 'recent' | 'day'> {
    const now = this.#clock.now();
    const { recent, day } = this.#byNode.get(node) ?? newRings();
    const lastSeenMs = this.#liveness.lastSeenMs(node);
    return {
      ...(lastSeenMs === undefined ? {} : { lastContactTime: toTimestamp(lastSeenMs) }),
      recent: recent.series(now),
      day: day.series(now),
    };
  }

  forget(node: string): void {
    this.#byNode.delete(node);
  }

  #begin(node: string): Rings {
    const rings = newRings();
    this.#byNode.set(node, rings);
    return rings;
  }
}

function newRings(): Rings {
  return {
    recent: new ReadingRing(MINUTE, HOUR_OF_MINUTES),
    day: new ReadingRing(TEN_MINUTES, DAY_OF_TEN_MINUTES),
  };
}
