/**
 * The plan of a round: users' changes and faults with their times. Plain data, derived from a seed and the round's
 * number.
 */
import { SeededRandom } from '../simulation/machines/seeded-random.js';

export const DAEMON_SETS = ['alpha', 'beta', 'gamma'] as const;
/** Images of a registry that does not exist, so a pull of a missing image fails at once. */
export const IMAGES = ['127.0.0.1:5000/app:1', '127.0.0.1:5000/app:2', '127.0.0.1:5000/app:3'] as const;
/** Image of the bystander container. It differs from the DaemonSets' images, so that image faults do not affect it. */
export const BYSTANDER_IMAGE = '127.0.0.1:5000/bystander:1';
export const ZONES = ['a', 'b', null] as const;

/** Clock errors in seconds; undefined: the clock starts in 1970. */
export const CLOCKS = {
  '1970': undefined,
  'a year back': -31_536_000,
  'a year on': 31_536_000,
  'an hour on': 3_600,
} as const;

export type WrongClock = keyof typeof CLOCKS;
/**
 * Errors for the coordinator's clock. With each of them its certificates are still valid if it restarts during the
 * fault.
 */
const CLOCKS_OF_COORDINATOR = ['a year back', 'a year on', 'an hour on'] as const satisfies WrongClock[];
export type Zone = (typeof ZONES)[number];

/** Requests of users to the API. A change of a DaemonSet that does not exist creates it. */
export type UserStep =
  | { kind: 'set daemonset'; name: string; image: string; zone: Zone; surges: boolean }
  | { kind: 'set image'; name: string; image: string }
  | { kind: 'delete daemonset'; name: string }
  | { kind: 'label node'; node: number; zone: Zone }
  | { kind: 'taint node'; node: number; isTainted: boolean }
  | { kind: 'delete pod'; node: number; index: number };

/** Parameters of the loss and restore of a coordinator. */
export interface RestoreTerms {
  /** Time between the backup and the loss. */
  backupAgeMs: number;
  /** True if users change every DaemonSet in that time. */
  changesAll: boolean;
  /** Time between the restored coordinator's start and the confirmation. */
  unconfirmedMs: number;
  /** True if users repeat all their requests before they confirm. */
  repeatsFirst: boolean;
}

/** The faults. Nodes are counted from 0. */
export type Fault =
  | { kind: 'cut link'; node: number; forMs: number }
  | { kind: 'flap link'; node: number; times: number }
  | { kind: 'lose packets'; node: number; percent: number; forMs: number }
  | { kind: 'delay link'; node: number; delayMs: number; forMs: number }
  | { kind: 'stall link'; node: number; forMs: number }
  | { kind: 'reset link'; node: number }
  | { kind: 'kill agent'; node: number }
  | { kind: 'hang agent'; node: number; forMs: number }
  | { kind: 'damage cache'; node: number }
  | { kind: 'set clock'; node: number; to: WrongClock; forMs: number }
  | { kind: 'kill engine'; node: number }
  | { kind: 'hang engine'; node: number; forMs: number }
  | { kind: 'restart engine'; node: number; as: 'restart' | 'upgrade' }
  | { kind: 'take images'; node: number; index: number; forMs: number }
  | { kind: 'wipe images'; node: number; forMs: number }
  | { kind: 'fill disk'; node: number; forMs: number }
  | { kind: 'lock disk'; node: number; forMs: number }
  | { kind: 'kill container'; node: number; index: number }
  | { kind: 'remove container'; node: number; index: number }
  | { kind: 'kill coordinator'; downMs: number }
  | { kind: 'hang coordinator'; forMs: number }
  | { kind: 'fill coordinator'; forMs: number }
  | { kind: 'set coordinator clock'; to: WrongClock; forMs: number }
  | ({ kind: 'restore coordinator' } & RestoreTerms)
  | { kind: 'reboot'; node: number }
  | { kind: 'cut power'; node: number; offMs: number };

export type FaultKind = Fault['kind'];
export type Step = { atMs: number } & (UserStep | Fault);

/** Relative frequency of each fault. */
const FAULTS: Record<FaultKind, number> = {
  'cut link': 4,
  'flap link': 2,
  'lose packets': 3,
  'delay link': 3,
  'stall link': 2,
  'reset link': 2,
  'kill agent': 4,
  'hang agent': 2,
  'damage cache': 2,
  'set clock': 2,
  'kill engine': 3,
  'hang engine': 2,
  'restart engine': 3,
  'take images': 2,
  'wipe images': 1,
  'fill disk': 2,
  'lock disk': 2,
  'kill container': 3,
  'remove container': 2,
  'kill coordinator': 4,
  'hang coordinator': 1,
  'fill coordinator': 2,
  'set coordinator clock': 3,
  'restore coordinator': 2,
  reboot: 3,
  'cut power': 4,
};

const USER_STEPS: Record<UserStep['kind'], number> = {
  'set daemonset': 3,
  'set image': 6,
  'delete daemonset': 1,
  'label node': 2,
  'taint node': 2,
  'delete pod': 3,
};

/** Faults that need a host that can boot. */
export const OF_WHOLE_HOSTS: readonly FaultKind[] = ['reboot', 'cut power'];
/** Faults that need libfaketime. */
export const OF_CLOCKS: readonly FaultKind[] = ['set clock', 'set coordinator clock'];
/** Faults that stop containers unless the containers outlive their engine. */
export const OF_ENGINES: readonly FaultKind[] = ['kill engine', 'restart engine'];
/** Faults that may stop containers. On hosts without such a fault no container may change. */
export const OF_CONTAINERS: readonly FaultKind[] = [
  ...OF_WHOLE_HOSTS,
  'take images',
  'wipe images',
  'kill container',
  'remove container',
];

/** All of a round's steps start within this time. */
const LONGEST_MS = 2_500;

export interface PlanOptions {
  hosts: number;
  /** Faults that these hosts do not support. */
  without: readonly FaultKind[];
}

/** The steps of a round in order of time. Equal seeds, numbers and options give equal steps. */
export function planOf(seed: string, number: number, options: PlanOptions): Step[] {
  const chance = new SeededRandom(`${seed}/${number}`);
  const faults = Object.entries(FAULTS).filter(([kind]) => !options.without.includes(kind as FaultKind));
  // Some rounds have no changes by users: then no container may change on hosts with an undisturbed engine.
  const changes = chance.pick([0, 1, 1, 2, 3]);
  const kinds = [
    ...Array.from({ length: changes }, () => weighted(Object.entries(USER_STEPS), chance)),
    ...Array.from({ length: chance.pick([1, 1, 2, 3, 4]) }, () => weighted(faults, chance)),
  ];
  const steps = kinds.map((kind): Step => {
    const what = stepOf(kind as Step['kind'], chance, options.hosts);
    return { atMs: chance.integer(0, LONGEST_MS), ...what };
  });
  return steps.sort((one, other) => one.atMs - other.atMs);
}

function weighted(kinds: readonly [string, number][], chance: SeededRandom): string {
  const total = kinds.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance.fraction() * total;
  for (const [kind, weight] of kinds) {
    left -= weight;
    if (left < 0) return kind;
  }
  throw new Error('a round without faults');
}

function stepOf(kind: Step['kind'], chance: SeededRandom, hosts: number): UserStep | Fault {
  const node = chance.integer(0, hosts - 1);
  const name = chance.pick(DAEMON_SETS);
  const index = chance.integer(0, DAEMON_SETS.length - 1);
  const forMs = chance.pick([200, 800, 2_000, 6_000]);
  switch (kind) {
    case 'set daemonset':
      return {
        ...{ kind, name, image: chance.pick(IMAGES) },
        ...{ zone: chance.pick(ZONES), surges: chance.isTrue(0.25) },
      };
    case 'set image':
      return { kind, name, image: chance.pick(IMAGES) };
    case 'delete daemonset':
      return { kind, name };
    case 'label node':
      return { kind, node, zone: chance.pick(ZONES) };
    case 'taint node':
      return { kind, node, isTainted: chance.isTrue(0.3) };
    case 'delete pod':
    case 'kill container':
    case 'remove container':
      return { kind, node, index };
    case 'cut link':
    case 'stall link':
    case 'hang agent':
    case 'hang engine':
    case 'fill disk':
    case 'lock disk':
    case 'wipe images':
      return { kind, node, forMs };
    case 'set clock':
      return { kind, node, to: chance.pick(Object.keys(CLOCKS) as WrongClock[]), forMs };
    case 'take images':
      return { kind, node, index, forMs };
    case 'restart engine':
      return { kind, node, as: chance.pick(['restart', 'upgrade']) };
    case 'fill coordinator':
      return { kind, forMs };
    case 'set coordinator clock':
      // At least 2 s: the coordinator needs that long to notice.
      return { kind, to: chance.pick(CLOCKS_OF_COORDINATOR), forMs: Math.max(forMs, 2_000) };
    case 'restore coordinator':
      return {
        ...{ kind, backupAgeMs: chance.pick([0, 800, 4_000]), unconfirmedMs: chance.pick([0, 1_000, 4_000]) },
        ...{ changesAll: chance.isTrue(0.5), repeatsFirst: chance.isTrue(0.5) },
      };
    case 'flap link':
      return { kind, node, times: chance.integer(3, 8) };
    case 'lose packets':
      return { kind, node, percent: chance.pick([5, 20, 50]), forMs };
    case 'delay link':
      return { kind, node, delayMs: chance.pick([50, 300, 1_000]), forMs };
    case 'reset link':
    case 'kill agent':
    case 'damage cache':
    case 'kill engine':
    case 'reboot':
      return { kind, node };
    case 'kill coordinator':
      return { kind, downMs: chance.pick([0, 500, 2_000]) };
    case 'hang coordinator':
      return { kind, forMs: Math.min(forMs, 2_000) };
    case 'cut power':
      return { kind, node, offMs: chance.pick([0, 500, 2_000]) };
  }
}

export function isFault(step: Step): step is { atMs: number } & Fault {
  return Object.hasOwn(FAULTS, step.kind);
}
