/** Draws histories from seeds. */

import { FLEET_FAULTS, type FleetFault } from '../coordinators/fleet-faults.js';
import type { CrashPoint } from '../machines/program-lifetime.js';
import { SeededRandom } from '../machines/seeded-random.js';
import { drawFleetStep, firstValues } from './draw-fleet-steps.js';
import {
  type Fault,
  type HandoverRules,
  type History,
  nodeName,
  type Policy,
  type Step,
  type Strategy,
  type UserStep,
} from './history.js';
import type { Mix } from './history-mixes.js';

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
const SCARCE = ['memory', 'disk'] as const;
const PRESSURES = ['MemoryPressure', 'DiskPressure'] as const;
const DAEMON_SETS = ['alpha', 'beta'];
const RANKS = ['low', 'mid', 'high'] as const;
/** Two of three minutes may be outside a window. */
const WAITS_MS = [30_000, 200_000] as const;
const POINTS_IN_TIME_MS = [-1_767_000_000_000, -3_600_000, -20_000, 20_000, 86_400_000];

/** Returns the history of a seed. */
export function generateHistory(seed: string, mix: Mix): History {
  const chance = new SeededRandom(seed);
  const nodes = chance.integer(2, 5);
  const classes: Step[] = mix['create ranked pod'] > 0 ? [{ kind: 'create classes', afterMs: 100 }] : [];
  const subject = mix['create job'] > mix['create daemonset'] ? 'create job' : 'create daemonset';
  const first: Step[] = [...classes, { ...stepOf(subject, chance, nodes), afterMs: 100 } as Step];
  if (mix['use values'] > 0)
    first.push({ ...firstValues(chance), afterMs: 100 }, {
      ...stepOf('use values', chance, nodes),
      afterMs: 100,
    } as Step);
  // Without a host policy no host has handovers.
  if (mix['set host policy'] > 0)
    first.push({ ...stepOf('set host policy', chance, nodes), afterMs: 100 } as Step);
  const kinds = Object.entries(mix) as [keyof Mix, number][];
  const steps = Array.from({ length: chance.integer(12, 40) }, (): Step => {
    const kind = weighted(kinds, chance);
    const afterMs = kind === 'wait' ? chance.integer(...WAITS_MS) : pauseOf(chance);
    return { ...stepOf(kind, chance, nodes), afterMs } as Step;
  });
  const history = { seed, nodes, speed: chance.pick([0, 1, 1, 2]), steps: [...first, ...steps] };
  return mix['coordinator fault'] > 0 ? withFailovers(history, chance) : history;
}

/** Half of the releases and approvals are soon followed by a fault of a coordinator, so that leaders change in rollouts. */
function withFailovers(history: History, chance: SeededRandom): History {
  const steps = history.steps.flatMap((step): Step[] => {
    if ((step.kind !== 'set image' && step.kind !== 'approve wave') || chance.isTrue(0.5)) return [step];
    const afterMs = chance.integer(0, chance.pick([300, 3_000, 15_000, 60_000]));
    return [step, { ...stepOf('coordinator fault', chance, history.nodes), afterMs }];
  });
  return { ...history, coordinators: chance.pick([3, 3, 3, 2, 5]), steps };
}

/** Steps mostly follow each other quickly, so that they overlap. Long pauses let timers expire. */
function pauseOf(chance: SeededRandom): number {
  const longest = chance.pick([20, 500, 500, 3_000, 10_000, 60_000]);
  return chance.integer(0, longest);
}

function weighted<Kind>(kinds: readonly (readonly [Kind, number])[], chance: SeededRandom): Kind {
  const total = kinds.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance.fraction() * total;
  for (const [kind, weight] of kinds) {
    left -= weight;
    if (left < 0) return kind;
  }
  throw new Error('a mix without weights');
}

function policyOf(chance: SeededRandom): Policy {
  return {
    soakSeconds: chance.pick([0, 10, 60]),
    approval: chance.pick(['Automatic', 'Automatic', 'Manual'] as const),
    maxFailed: chance.pick([null, 0, 0, 1]),
    deadlineSeconds: chance.pick([30, 120]),
    action: chance.pick(['Pause', 'RollBack'] as const),
  };
}

function turnsOf(chance: SeededRandom): HandoverRules {
  return {
    windowSeconds: chance.pick([null, 20, 60, 100]),
    confirmSeconds: chance.pick([null, 15, 60]),
    lockSeconds: chance.pick([null, 30, 120]),
    prePulls: chance.isTrue(0.5),
  };
}

function stepOf(kind: keyof Mix, chance: SeededRandom, nodes: number): UserStep | Fault {
  const node = () => nodeName(chance.integer(1, nodes));
  const name = () => chance.pick(DAEMON_SETS);
  const crashAt = (): CrashPoint => ({
    operation: chance.integer(1, 25),
    side: chance.pick(['before', 'after'] as const),
  });
  const downMs = () => chance.pick([200, 2_000, 5_000, 60_000]) + chance.integer(0, 1_000);
  const forMs = () => chance.pick([1_000, 8_000, 30_000, 90_000]);
  const zone = () => chance.pick(['a', 'b', null] as const);
  const podName = () => `bare-${chance.integer(1, 3)}`;
  const rankedName = () => `ranked-${chance.integer(1, 5)}`;
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
      return { kind, node: node(), index: chance.integer(0, 2), force: chance.isTrue(0.5) };
    case 'evict pod':
      return { kind, node: node(), index: chance.integer(0, 2) };
    case 'create pod':
    case 'replace pod':
      return { kind, name: podName(), node: node(), image: chance.pick(IMAGES.slice(0, 6)) };
    case 'delete node':
      return { kind, node: node() };
    case 'kill agent':
      return { kind, node: node(), crashAt: crashAt(), downMs: downMs(), damagesCache: chance.isTrue(0.1) };
    case 'stop agent':
      return { kind, node: node(), downMs: downMs() };
    case 'kill coordinator':
      return { kind, crashAt: crashAt(), downMs: downMs() };
    case 'stop coordinator':
      return { kind, downMs: downMs() };
    case 'coordinator fault':
      if (chance.isTrue(0.15)) return { kind: 'spoil turn', node: node(), by: 'failover', forMs: 0 };
      return {
        ...{ kind, fault: weighted(Object.entries(FLEET_FAULTS) as [FleetFault, number][], chance) },
        ...{ who: chance.pick(['leader', 'leader', 'follower'] as const), draw: chance.integer(0, 0xffffff) },
      };
    case 'cut power':
      return {
        kind,
        node: node(),
        downMs: chance.pick([10_000, 30_000, 120_000]),
        damagesCache: chance.isTrue(0.3),
      };
    case 'cut cable':
      return { kind, node: node(), forMs: forMs() };
    case 'cut zone':
      return {
        ...{ kind, zone: chance.pick(['east', 'west', null, null] as const) },
        forMs: chance.pick([8_000, 70_000, 150_000, 240_000]),
      };
    case 'reset connections':
      return { kind, node: node() };
    case 'stop engine':
      return { kind, node: node(), forMs: forMs(), killsContainers: chance.isTrue(0.5) };
    case 'end container':
      return { kind, node: node(), index: chance.integer(0, 3), code: chance.pick([0, 1, 137]) };
    case 'jump clock':
      return { kind, node: chance.isTrue(0.3) ? null : node(), byMs: chance.pick(POINTS_IN_TIME_MS) };
    case 'fill disk':
      return { kind, forMs: chance.pick([1_000, 5_000, 10_000]) };
    case 'back up':
      return { kind };
    case 'restore backup':
      return {
        ...{ kind, back: chance.pick([0, 0, 0, 1, 2]), downMs: downMs() },
        confirmAfterMs: chance.pick([5_000, 60_000, 150_000]),
      };
    case 'create tolerant pod':
      return { kind, name: podName(), node: node(), image: 'app:1', seconds: chance.pick([5, 60]) };
    case 'cordon node':
      return { kind, node: node(), isCordoned: chance.isTrue(0.6) };
    case 'set policy':
      return { kind, policy: policyOf(chance) };
    case 'set host policy':
      return { kind, policy: policyOf(chance), turns: turnsOf(chance) };
    case 'freeze':
      return { kind, forSeconds: chance.pick([20, 120]) };
    case 'pause policy':
      return { kind, isPaused: chance.isTrue(0.5) };
    case 'approve wave':
      return { kind, name: name(), wave: chance.pick(['first', 'second', 'second'] as const) };
    case 'rank daemonset':
      return {
        ...{ kind, name: name(), rank: chance.pick([...RANKS, null]) },
        // Two DaemonSets, each with a surplus Pod of a surge, fit on a host with four CPUs.
        cpu: chance.pick(['500m', '1', '1', null]),
      };
    case 'create ranked pod':
      return {
        ...{ kind, name: rankedName(), node: node(), rank: chance.pick(RANKS) },
        cpu: chance.pick(['1500m', '2500m', '3500m', '4']),
        graceSeconds: chance.pick([2, 10]),
      };
    case 'create rivals':
      return {
        ...{ kind, node: node(), graceSeconds: chance.pick([2, 10]) },
        rivals: [1, 2, 3].map((number) => ({
          ...{ name: `ranked-${number}`, rank: chance.pick(RANKS) },
          cpu: chance.pick(['500m', '1', '2500m', '4']),
        })),
      };
    case 'delete ranked pod':
      return { kind, name: rankedName() };
    case 'create classes':
    case 'delete policy':
    case 'wait':
      return { kind };
    case 'use values':
    case 'set values':
    case 'delete values':
    case 'create job':
    case 'suspend job':
    case 'rerun job':
    case 'set parallelism':
    case 'delete job':
    case 'delete job result':
    case 'edit job pod':
    case 'add host':
      return drawFleetStep(kind, chance, nodes);
    case 'fill host disk':
      return { kind, node: node(), forMs: forMs() };
    case 'busy host':
      return {
        ...{ kind, node: chance.isTrue(0.4) ? null : node() },
        forMs: chance.pick([8_000, 30_000, 150_000, 300_000]),
      };
    case 'spoil turn':
      return {
        ...{ kind, node: node(), by: chance.pick(['cut', 'cut', 'reboots'] as const) },
        forMs: chance.pick([8_000, 40_000, 150_000]),
      };
    case 'press host':
      return { kind, node: node(), condition: chance.pick(PRESSURES), forMs: forMs() };
    case 'starve host':
      return { kind, node: node(), of: chance.pick(SCARCE), forMs: chance.pick([15_000, 60_000]) };
    case 'hang engine':
      return { kind, node: node(), forMs: forMs() };
    case 'remove container':
      return { kind, node: node(), index: chance.integer(0, 3) };
    case 'write manifest':
      return {
        kind,
        node: node(),
        name: chance.pick(['static-1', 'static-2']),
        image: chance.pick(['app:1', 'app:2', 'app:slow1', 'app:stubborn', null, null]),
      };
  }
}
