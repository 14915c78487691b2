/** A history: what users do and what breaks, when. Plain data, made from a seed; leaving steps out makes another history. */
import type { Doom } from './life.js';
import { Seeded } from './seeded.js';

/** How a DaemonSet is to be updated. */
export interface Strategy {
  type: 'RollingUpdate' | 'OnDelete';
  maxUnavailable?: number | string;
  maxSurge?: number | string;
}

export type UserStep =
  | {
      kind: 'create daemonset';
      name: string;
      image: string;
      strategy: Strategy;
      minReadySeconds: number;
      graceSeconds: number;
      selector: Zone | null;
    }
  | { kind: 'set image'; name: string; image: string }
  | { kind: 'set strategy'; name: string; strategy: Strategy }
  | { kind: 'set selector'; name: string; selector: Zone | null }
  | { kind: 'delete daemonset'; name: string; policy: 'Background' | 'Foreground' | 'Orphan' }
  | { kind: 'label node'; node: string; zone: Zone | null }
  | { kind: 'taint node'; node: string; effect: 'NoSchedule' | 'NoExecute' | null }
  | { kind: 'delete pod'; node: string; index: number; force: boolean }
  | { kind: 'evict pod'; node: string; index: number }
  | { kind: 'create pod'; name: string; node: string; image: string }
  | { kind: 'replace pod'; name: string; node: string; image: string }
  | { kind: 'delete node'; node: string };

export type Fault =
  | { kind: 'kill agent'; node: string; doom: Doom; downMs: number; damagesCache: boolean }
  | { kind: 'stop agent'; node: string; downMs: number }
  | { kind: 'kill coordinator'; doom: Doom; downMs: number }
  | { kind: 'stop coordinator'; downMs: number }
  | { kind: 'cut power'; node: string; downMs: number; damagesCache: boolean }
  | { kind: 'cut cable'; node: string; forMs: number }
  | { kind: 'reset connections'; node: string }
  | { kind: 'stop engine'; node: string; forMs: number; killsContainers: boolean }
  | { kind: 'end container'; node: string; index: number; code: number }
  | { kind: 'jump clock'; node: string | null; byMs: number }
  | { kind: 'fill disk'; forMs: number }
  | { kind: 'back up' }
  | { kind: 'restore backup'; downMs: number; confirmAfterMs: number };

export type Zone = 'a' | 'b';
export type Step = { afterMs: number } & (UserStep | Fault);

export interface History {
  /** Of the chances on the way: delays, losses, generated names. */
  seed: string;
  nodes: number;
  /** How slow everything outside of memory is, as a factor. */
  pace: number;
  steps: Step[];
}

/** How often which step comes: weights, by what is to be tried. */
export type Mix = Record<(UserStep | Fault)['kind'], number>;

const USERS: Omit<Mix, Fault['kind']> = {
  'create daemonset': 3,
  'set image': 8,
  'set strategy': 2,
  'set selector': 2,
  'delete daemonset': 1,
  'label node': 4,
  'taint node': 3,
  'delete pod': 3,
  'evict pod': 1,
  'create pod': 1,
  'replace pod': 1,
  'delete node': 1,
};

const FAULTS: Omit<Mix, UserStep['kind']> = {
  'kill agent': 5,
  'stop agent': 1,
  'kill coordinator': 5,
  'stop coordinator': 1,
  'cut power': 2,
  'cut cable': 4,
  'reset connections': 3,
  'stop engine': 2,
  'end container': 3,
  'jump clock': 1,
  'fill disk': 1,
  'back up': 0,
  'restore backup': 0,
};

const NO_FAULTS = Object.fromEntries(Object.keys(FAULTS).map((kind) => [kind, 0])) as typeof FAULTS;

/** Names of the mixes that can be asked for. */
export const MIXES = {
  all: { ...USERS, ...FAULTS },
  /** No fault at all: what fails here needs only bad luck with time. */
  calm: { ...USERS, ...NO_FAULTS },
  /** Rollouts, and agents and coordinators that die in them. */
  rollouts: {
    ...USERS,
    ...NO_FAULTS,
    'set image': 20,
    'kill agent': 8,
    'kill coordinator': 8,
    'end container': 4,
  },
  /** Deletions of all kinds, while hosts are away. */
  deletions: {
    ...USERS,
    ...FAULTS,
    'delete pod': 14,
    'delete daemonset': 4,
    'replace pod': 8,
    'delete node': 4,
    'create daemonset': 6,
  },
  /** Machines without a battery behind their clock. */
  clocks: { ...USERS, ...FAULTS, 'jump clock': 14, 'cut power': 6 },
  /** Backups restored: what happened since must not stop a container. */
  restores: { ...USERS, ...FAULTS, 'delete node': 0, 'back up': 4, 'restore backup': 2 },
} satisfies Record<string, Mix>;

export type MixName = keyof typeof MIXES;

const IMAGES = [
  'app:1',
  'app:2',
  'app:3',
  'app:slow1',
  'app:slow2',
  'app:stubborn',
  'app:broken',
  'app:crash',
  'app:absent',
];
const STRATEGIES: readonly Strategy[] = [
  { type: 'RollingUpdate', maxUnavailable: 1 },
  { type: 'RollingUpdate', maxUnavailable: 1 },
  { type: 'RollingUpdate', maxUnavailable: 2 },
  { type: 'RollingUpdate', maxUnavailable: '50%' },
  { type: 'RollingUpdate', maxUnavailable: 0, maxSurge: 1 },
  { type: 'RollingUpdate', maxUnavailable: 0, maxSurge: '50%' },
  { type: 'OnDelete' },
];
const DAEMON_SETS = ['alpha', 'beta'];
const POINTS_IN_TIME_MS = [-1_767_000_000_000, -3_600_000, -20_000, 20_000, 86_400_000];

/** The history of a seed. */
export function historyOf(seed: string, mix: Mix): History {
  const chance = new Seeded(seed);
  const nodes = chance.whole(2, 5);
  const first: Step[] = [{ ...stepOf('create daemonset', chance, nodes), afterMs: 100 } as Step];
  const kinds = Object.entries(mix) as [keyof Mix, number][];
  const steps = Array.from({ length: chance.whole(12, 40) }, (): Step => {
    const kind = weighted(kinds, chance);
    return { ...stepOf(kind, chance, nodes), afterMs: pauseOf(chance) } as Step;
  });
  return { seed, nodes, pace: chance.pick([0, 1, 1, 2]), steps: [...first, ...steps] };
}

export function nodeName(index: number): string {
  return `host-${index}`;
}

/** Mostly soon after the last, now and then after a long time: much happens together, and some things run out in between. */
function pauseOf(chance: Seeded): number {
  const longest = chance.pick([20, 500, 500, 3_000, 10_000, 60_000]);
  return chance.whole(0, longest);
}

function weighted(kinds: readonly [keyof Mix, number][], chance: Seeded): keyof Mix {
  const total = kinds.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance.fraction() * total;
  for (const [kind, weight] of kinds) {
    left -= weight;
    if (left < 0) return kind;
  }
  throw new Error('a mix without weights');
}

function stepOf(kind: keyof Mix, chance: Seeded, nodes: number): UserStep | Fault {
  const node = () => nodeName(chance.whole(1, nodes));
  const name = () => chance.pick(DAEMON_SETS);
  const doom = (): Doom => ({ deed: chance.whole(1, 25), side: chance.pick(['before', 'after'] as const) });
  const downMs = () => chance.pick([200, 2_000, 5_000, 60_000]) + chance.whole(0, 1_000);
  const forMs = () => chance.pick([1_000, 8_000, 30_000, 90_000]);
  const zone = () => chance.pick(['a', 'b', null] as const);
  const podName = () => `bare-${chance.whole(1, 3)}`;
  switch (kind) {
    case 'create daemonset':
      return {
        kind,
        name: name(),
        image: chance.pick(IMAGES),
        strategy: chance.pick(STRATEGIES),
        minReadySeconds: chance.pick([0, 0, 5]),
        graceSeconds: chance.pick([2, 10, 30]),
        selector: chance.pick(['a', null, null] as const),
      };
    case 'set image':
      return { kind, name: name(), image: chance.pick(IMAGES) };
    case 'set strategy':
      return { kind, name: name(), strategy: chance.pick(STRATEGIES) };
    case 'set selector':
      return { kind, name: name(), selector: zone() };
    case 'delete daemonset':
      return { kind, name: name(), policy: chance.pick(['Background', 'Foreground', 'Orphan'] as const) };
    case 'label node':
      return { kind, node: node(), zone: zone() };
    case 'taint node':
      return { kind, node: node(), effect: chance.pick(['NoSchedule', 'NoExecute', null, null] as const) };
    case 'delete pod':
      return { kind, node: node(), index: chance.whole(0, 2), force: chance.happens(0.5) };
    case 'evict pod':
      return { kind, node: node(), index: chance.whole(0, 2) };
    case 'create pod':
    case 'replace pod':
      return { kind, name: podName(), node: node(), image: chance.pick(IMAGES.slice(0, 6)) };
    case 'delete node':
      return { kind, node: node() };
    case 'kill agent':
      return { kind, node: node(), doom: doom(), downMs: downMs(), damagesCache: chance.happens(0.1) };
    case 'stop agent':
      return { kind, node: node(), downMs: downMs() };
    case 'kill coordinator':
      return { kind, doom: doom(), downMs: downMs() };
    case 'stop coordinator':
      return { kind, downMs: downMs() };
    case 'cut power':
      return {
        kind,
        node: node(),
        downMs: chance.pick([10_000, 30_000, 120_000]),
        damagesCache: chance.happens(0.3),
      };
    case 'cut cable':
      return { kind, node: node(), forMs: forMs() };
    case 'reset connections':
      return { kind, node: node() };
    case 'stop engine':
      return { kind, node: node(), forMs: forMs(), killsContainers: chance.happens(0.5) };
    case 'end container':
      return { kind, node: node(), index: chance.whole(0, 3), code: chance.pick([0, 1, 137]) };
    case 'jump clock':
      return { kind, node: chance.happens(0.3) ? null : node(), byMs: chance.pick(POINTS_IN_TIME_MS) };
    case 'fill disk':
      return { kind, forMs: chance.pick([1_000, 5_000, 10_000]) };
    case 'back up':
      return { kind };
    case 'restore backup':
      return { kind, downMs: downMs(), confirmAfterMs: chance.pick([5_000, 60_000, 150_000]) };
  }
}
