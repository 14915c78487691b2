/** How far a rollout by waves may go: which wave is open, and why no more. Pure; the controller performs it. */
import type { RolloutCounts, RolloutPhase, RolloutPolicySpec } from '../../shared/kube/rollout.js';
import { amountOf, waveNames } from './wave-plan.js';

/** What is remembered of a rollout between two looks. Times are ms since the epoch. */
export interface RolloutMemory {
  revision: string;
  /** Index of the last open wave; -1 = none yet. */
  wave: number;
  startedAt: number;
  soakingSince?: number;
  completedAt?: number;
  /** Why the revision failed: it stays barred. */
  failure?: string;
  /** The last revision that was completed. */
  stable?: string;
}

export interface WaveCounts extends RolloutCounts {
  /** Nodes that hold a Pod of another revision. */
  old: number;
  /** Nodes that hold one of this revision. */
  touched: number;
}

export interface RolloutInput {
  spec: RolloutPolicySpec;
  /** Hash of the current revision. */
  revision: string;
  /** Absent before the first look. */
  memory?: RolloutMemory | undefined;
  /** The revision before this one, as the history has it: what is stable where nothing is remembered. */
  previous?: string | undefined;
  /** In the order of `waveNames`. */
  waves: readonly WaveCounts[];
  /** Names of waves that somebody has approved. */
  approved: ReadonlySet<string>;
  now: number;
}

export interface RolloutVerdict {
  memory: RolloutMemory;
  phase: RolloutPhase;
  message: string;
  /** Nodes of waves up to this one may be replaced; -1 = none. */
  openUpTo: number;
  /** Nodes that have the revision are to go back to the stable one. */
  revert?: boolean;
  /** When time alone changes the verdict. */
  lookAgainAt?: number;
}

function sum(waves: readonly WaveCounts[], key: keyof WaveCounts): number {
  return waves.reduce((total, wave) => total + wave[key], 0);
}

/** Nodes of the wave that are neither done, nor failed, nor out of reach. */
function outstanding({ nodes, updated, failed, deferred }: WaveCounts): number {
  return nodes - updated - failed - deferred;
}

/** The rollout as it stands now. */
export function rolloutStep(input: RolloutInput): RolloutVerdict {
  const memory = begin(input);
  if (memory.completedAt !== undefined) return completed(memory, input);
  const failure = memory.failure ?? overspent(input);
  if (failure !== undefined) return failed({ ...memory, failure }, failure, input);
  if (input.spec.paused) return stopped(memory, 'Paused', 'the policy is paused: nothing is replaced');
  return advance(memory, input);
}

/** A DaemonSet's first revision has nothing to replace, and one that is everywhere nothing left. */
function begin({ memory, previous, revision, waves, now }: RolloutInput): RolloutMemory {
  if (memory?.revision === revision) return memory;
  const stable = memory ? (memory.completedAt === undefined ? memory.stable : memory.revision) : previous;
  const kept = stable === undefined || stable === revision ? {} : { stable };
  const fresh = { revision, wave: -1, startedAt: now, ...kept };
  const isFirst = memory === undefined && previous === undefined;
  // A node that is under way may hold an old Pod: what is not seen is not done.
  const isEverywhere = sum(waves, 'old') === 0 && waves.every((wave) => outstanding(wave) === 0);
  return isFirst || isEverywhere ? { ...fresh, wave: waves.length - 1, completedAt: now } : fresh;
}

function completed(memory: RolloutMemory, { spec, waves }: RolloutInput): RolloutVerdict {
  const wave = waves.length - 1;
  const openUpTo = spec.paused ? -1 : wave;
  const deferred = sum(waves, 'deferred');
  const message =
    deferred > 0
      ? `all reachable nodes are updated, ${deferred} follow when they are back`
      : 'all nodes are updated';
  return { memory: { ...memory, wave }, phase: 'Completed', message, openUpTo };
}

function overspent({ spec, waves }: RolloutInput): string | undefined {
  if (!spec.failureBudget) return undefined;
  const failed = sum(waves, 'failed');
  const allowed = amountOf(spec.failureBudget.maxFailed ?? 0, sum(waves, 'nodes'), Math.floor);
  return failed > allowed ? `${failed} nodes have failed, ${allowed} may` : undefined;
}

function failed(memory: RolloutMemory, failure: string, { spec, waves }: RolloutInput): RolloutVerdict {
  if (spec.failureBudget?.action !== 'RollBack' || memory.stable === undefined) {
    return stopped(memory, 'Failed', failure);
  }
  const left = sum(waves, 'touched');
  if (left === 0) return stopped(memory, 'RolledBack', `${failure}; no node has the revision any more`);
  const message = `${failure}; ${left} nodes go back to revision ${memory.stable}`;
  return { ...stopped(memory, 'Failed', message), revert: true };
}

function stopped(memory: RolloutMemory, phase: RolloutPhase, message: string): RolloutVerdict {
  const { soakingSince: _, ...rest } = memory;
  return { memory: rest, phase, message, openUpTo: -1 };
}

/** Opens waves as long as the open one is done, has soaked, and the next is approved. */
function advance(begun: RolloutMemory, input: RolloutInput): RolloutVerdict {
  const { spec, waves, approved } = input;
  const names = waveNames(spec.waves ?? []);
  const last = waves.length - 1;
  let memory: RolloutMemory = { ...begun, wave: Math.min(begun.wave, last) };
  for (;;) {
    const { wave } = memory;
    const held: Hold = wave < 0 ? { memory } : holdOf(memory, names[wave] ?? '', input);
    if (held.verdict) return held.verdict;
    memory = held.memory;
    if (wave === last) return completed({ ...withoutSoak(memory), completedAt: input.now }, input);
    const next = names[wave + 1] ?? '';
    if (spec.waves?.[wave + 1]?.approval === 'Manual' && !approved.has(next)) {
      return {
        memory,
        openUpTo: wave,
        phase: 'AwaitingApproval',
        message: `wave ${next} waits for approval`,
      };
    }
    memory = { ...withoutSoak(memory), wave: wave + 1 };
  }
}

/** What keeps the rollout in its open wave, if anything does. */
interface Hold {
  memory: RolloutMemory;
  verdict?: RolloutVerdict;
}

function holdOf(open: RolloutMemory, name: string, { spec, waves, now }: RolloutInput): Hold {
  const { wave } = open;
  const missing = waves.slice(0, wave + 1).reduce((total, counts) => total + outstanding(counts), 0);
  if (missing > 0) {
    const message = `wave ${name}: ${missing} nodes to go`;
    const memory = withoutSoak(open);
    return { memory, verdict: { memory, openUpTo: wave, phase: 'Progressing', message } };
  }
  const soakingSince = open.soakingSince ?? now;
  const memory = { ...open, soakingSince };
  const soakedAt = soakingSince + (spec.waves?.[wave]?.soakSeconds ?? 0) * 1000;
  if (now >= soakedAt) return { memory };
  const message = `wave ${name} is updated and watched`;
  return { memory, verdict: { memory, openUpTo: wave, phase: 'Soaking', message, lookAgainAt: soakedAt } };
}

function withoutSoak({ soakingSince: _, ...memory }: RolloutMemory): RolloutMemory {
  return memory;
}
