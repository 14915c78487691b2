/** The plan of a round with several coordinators: one or two faults. Plain data, derived from a seed and a number. */
import { SeededRandom } from '../../simulation/machines/seeded-random.js';

/** `requests`: packets of the machine are lost. `answers`: packets to the machine are lost. */
export const CUTS = ['both', 'requests', 'answers'] as const;
export type Cut = (typeof CUTS)[number];
export type Role = 'leader' | 'standby';

/** A fault with its time after the start of the round. It ends, and is repaired, after `forMs`. */
export type CoordinatorFault = { readonly atMs: number; readonly forMs: number } & (
  | { readonly kind: 'kill coordinator' | 'pause coordinator'; readonly of: Role }
  /** etcd's leader. */
  | { readonly kind: 'kill etcd' | 'pause etcd' }
  /** Of the leader and, on the same machine, of etcd's leader. */
  | { readonly kind: 'kill machine' | 'pause machine' }
  /** Two of three members of etcd are killed. */
  | { readonly kind: 'lose quorum' }
  /** Packets between the leader and etcd, hosts, or the other coordinators; or all packets of its machine. */
  | {
      readonly kind: 'cut from etcd' | 'cut from hosts' | 'cut from coordinators' | 'cut machine';
      readonly cut: Cut;
    }
  | { readonly kind: 'fill disk' | 'wipe member'; readonly of: Role }
  /** etcd has no space for writes (NOSPACE). */
  | { readonly kind: 'fill etcd' }
  | { readonly kind: 'step clock'; readonly of: Role; readonly seconds: number }
  | { readonly kind: 'step down' }
  /** A standby is away while the records that it lacks are trimmed. */
  | { readonly kind: 'trim log' }
  /** Each coordinator is stopped and started, followers first, as in an upgrade. */
  | { readonly kind: 'restart all' }
);

export type CoordinatorFaultKind = CoordinatorFault['kind'];

/** Relative frequency of each kind. */
const FREQUENCIES: Readonly<Record<CoordinatorFaultKind, number>> = {
  'kill coordinator': 4,
  'pause coordinator': 3,
  'kill etcd': 2,
  'pause etcd': 2,
  'kill machine': 3,
  'pause machine': 2,
  'lose quorum': 3,
  'cut from etcd': 4,
  'cut from hosts': 2,
  'cut from coordinators': 3,
  'cut machine': 3,
  'fill disk': 3,
  'wipe member': 2,
  'fill etcd': 2,
  'step clock': 3,
  'step down': 2,
  'trim log': 2,
  'restart all': 2,
};

export const COORDINATOR_FAULTS = Object.keys(FREQUENCIES) as CoordinatorFaultKind[];

/** A short pause, a day ahead, and an hour back. Certificates are valid with each of them. */
const CLOCK_STEPS_S = [90, 3_600, 72_000, -90, -3_600] as const;
const SECOND_FAULT_PROBABILITY = 0.4;
/** A rollout is in progress for about this long after the start of a round. */
const ROLLOUT_MS = 4_000;
/** Longer than the leader's lease, with its proof and its last renewal. */
const LONG_MS = 10_000;

/** Returns the faults of round `number`, by time. `without`: kinds that this machine cannot inject. */
export function coordinatorPlan(
  seed: string,
  number: number,
  without: readonly CoordinatorFaultKind[] = [],
): CoordinatorFault[] {
  const random = new SeededRandom(`${seed}/coordinators-${number}`);
  const kinds = COORDINATOR_FAULTS.filter((kind) => !without.includes(kind)).flatMap((kind) =>
    Array<CoordinatorFaultKind>(FREQUENCIES[kind]).fill(kind),
  );
  const first = drawFault(random.pick(kinds), random.integer(200, ROLLOUT_MS), random);
  if (!random.isTrue(SECOND_FAULT_PROBABILITY)) return [first];
  const second = drawFault(random.pick(kinds), random.integer(200, 2 * ROLLOUT_MS), random);
  return [first, second].sort((one, other) => one.atMs - other.atMs);
}

/** Returns a fault of this kind with a drawn target and duration. */
export function drawFault(kind: CoordinatorFaultKind, atMs: number, random: SeededRandom): CoordinatorFault {
  const of: Role = random.isTrue(0.6) ? 'leader' : 'standby';
  const cut = random.pick(CUTS);
  const forMs = random.integer(1_000, LONG_MS + 2_000);
  switch (kind) {
    case 'kill coordinator':
    case 'wipe member':
      return { kind, of, atMs, forMs };
    case 'fill disk':
      return { kind, of, atMs, forMs: Math.max(forMs, 4_000) };
    case 'pause coordinator':
      return { kind, of, atMs, forMs: LONG_MS };
    case 'pause etcd':
    case 'pause machine':
    case 'fill etcd':
    case 'lose quorum':
      return { kind, atMs, forMs: LONG_MS };
    case 'cut from etcd':
    case 'cut from hosts':
    case 'cut from coordinators':
    case 'cut machine':
      return { kind, cut, atMs, forMs: Math.max(forMs, 5_000) };
    case 'step clock':
      return { kind, of, seconds: random.pick(CLOCK_STEPS_S), atMs, forMs };
    default:
      return { kind, atMs, forMs };
  }
}

/** One line, such as `+300 kill coordinator of=leader forMs=4000`. */
export function faultText({ atMs, kind, ...what }: CoordinatorFault): string {
  const details = Object.entries(what).map(([name, value]) => `${name}=${value}`);
  return [`+${atMs} ${kind}`, ...details].join(' ');
}
