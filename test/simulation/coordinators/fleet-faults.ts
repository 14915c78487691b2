/** Faults of coordinators that agents notice, and the names of all faults that a history of several coordinators may have. */
import type { SeededRandom } from '../machines/seeded-random.js';
import type { Cable } from '../machines/simulated-network.js';
import type { Timeline } from '../machines/timeline.js';
import type { SimulatedMember } from './simulated-member.js';

/** By weight: how often each one is drawn. */
export const FLEET_FAULTS = {
  'kill -9': 3,
  'power cut': 2,
  'freeze of 10 s': 2,
  'freeze of a minute': 2,
  'cut off from etcd': 3,
  'etcd connection hangs': 2,
  'slow connection': 2,
  'answers lost one way': 2,
  'answers lost': 4,
  'leases lost': 3,
  'quorum lost': 1,
  'engine full': 1,
  'disk full': 1,
  'disk full for one entry': 1,
  'clock step': 1,
  'step down': 4,
  compaction: 1,
  trim: 1,
  'away while the log is trimmed': 3,
  'cut off from hosts': 2,
  'cut off from everything': 2,
} as const;

export type FleetFault = keyof typeof FLEET_FAULTS;

interface FleetFaultsDeps {
  readonly timeline: Timeline;
  cableOf(memberId: string): Cable;
  leader(): SimulatedMember | undefined;
  repairAfter(ms: number, repair: () => void): void;
}

type Fault = (member: SimulatedMember, random: SeededRandom) => void;

/** The faults that etcd alone does not show. */
export function fleetFaults(deps: FleetFaultsDeps): Readonly<Record<string, Fault>> {
  const { timeline, repairAfter, cableOf, leader } = deps;
  const cut = (memberId: string, ms: number) => {
    cableOf(memberId).cut(timeline.now);
    repairAfter(ms, () => cableOf(memberId).reconnect(timeline.now));
  };
  return {
    'freeze of a minute': ({ process }) => {
      process?.suspend();
      repairAfter(60_000, () => process?.resume());
    },
    'cut off from hosts': ({ memberId }, random) => cut(memberId, random.integer(5_000, 90_000)),
    'cut off from everything': ({ memberId, faults }, random) => {
      const ms = random.integer(5_000, 60_000);
      cut(memberId, ms);
      if (faults) faults.isCutOff = true;
      repairAfter(ms, () => faults && Object.assign(faults, { isCutOff: false }));
    },
    // Its database then needs a snapshot of the leader.
    'away while the log is trimmed': (member, random) => {
      const ms = random.integer(10_000, 60_000);
      member.stayAway();
      timeline.after(ms * 0.8, () => {
        const { storage, serving } = leader() ?? {};
        if (storage && serving)
          storage.trim(serving.store.log.durableRecord + 1, serving.leadership.term).catch(() => undefined);
      });
      repairAfter(ms, () => member.return());
    },
  };
}
