/** Decides how far a rollout by waves may go: which waves are open, and what blocks the next one. */
import { countText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { templateHashOf } from '../daemonsets/daemon-node.js';
import { exceededBudget } from './failure-budget.js';
import {
  outstanding,
  type RolloutInput,
  type RolloutMemory,
  sum,
  updateMemory,
  type WaveCounts,
} from './rollout-memory.js';
import { isListed, lastRequestText, NO_STEERING } from './steering-state.js';
import { waveNames } from './wave-plan.js';

export interface RolloutVerdict {
  memory: RolloutMemory;
  phase: RolloutPhase;
  message: string;
  /** Index of the last wave whose nodes may be updated. -1: none. */
  openUpTo: number;
  /**
   * Nodes that have to roll back to the stable revision: all that have this one, or only those that failed after
   * completion.
   */
  revert?: 'all' | 'late';
  /** No Pod is created, replaced or deleted. */
  frozen?: boolean;
  /** When the verdict changes without any event, in ms since the epoch. */
  requeueAt?: number;
}

export function judgeRollout(input: RolloutInput): RolloutVerdict {
  const memory = updateMemory(input);
  const { spec } = input;
  const steering = memory.steering ?? NO_STEERING;
  if (spec.frozen || steering.frozen) {
    const who = spec.frozen ? 'the policy is frozen' : `frozen${lastRequestText(steering, 'freeze')}`;
    return { ...stopped(memory, 'Frozen', `${who}; no Pod is changed`), frozen: true };
  }
  const failure = memory.failure ?? exceededBudget(memory, input);
  if (failure !== undefined) return failed({ ...memory, failure }, failure, input);
  if (memory.completedAt !== undefined) return completed(memory, input);
  if (spec.paused) return stopped(memory, 'Paused', 'the policy is paused; no Pod is replaced');
  if (steering.paused) {
    return stopped(memory, 'Paused', `paused${lastRequestText(steering, 'pause')}; no Pod is replaced`);
  }
  return advance(memory, input);
}

function completed(memory: RolloutMemory, { spec, waves }: RolloutInput): RolloutVerdict {
  const wave = waves.length - 1;
  const isPaused = spec.paused === true || memory.steering?.paused === true;
  const left = waves.reduce((total, counts) => total + outstanding(counts), 0);
  const caughtUp = memory.caughtUp === true || (sum(waves, 'deferred') === 0 && left === 0);
  return {
    memory: { ...memory, wave, ...(caughtUp ? { caughtUp } : {}) },
    phase: 'Completed',
    message: completionText(memory, waves, left),
    openUpTo: isPaused ? -1 : wave,
  };
}

/** `left`: nodes that are not updated yet. */
function completionText(memory: RolloutMemory, waves: readonly WaveCounts[], left: number): string {
  if (sum(waves, 'nodes') === 0) return 'no node is eligible';
  const updated = sum(waves, 'updated');
  const outside = sum(waves, 'outsideWindow');
  const aside = [...counted(sum(waves, 'failed'), 'failed'), ...counted(sum(waves, 'skipped'), 'skipped')];
  // The first revision is complete before any Pod runs, because it replaces none.
  const isFirst = memory.stable === undefined && !memory.wasStable && sum(waves, 'old') === 0;
  const parts = [
    ...aside,
    ...counted(sum(waves, 'deferred'), 'is updated when it returns', 'are updated when they return'),
    ...counted(outside, 'is updated in its window', 'are updated in their windows'),
    ...(isFirst
      ? counted(left - outside, 'gets its first Pod now', 'get their first Pod now')
      : counted(left - outside, 'is updated now', 'are updated now')),
  ];
  if (parts.length === 0) return 'all nodes are updated';
  const done =
    left === outside && aside.length === 0
      ? 'all reachable nodes are updated'
      : isFirst && updated === 0
        ? 'the first revision has nothing to replace'
        : countText(updated, 'node is updated', 'nodes are updated');
  return [done, ...parts].join(', ');
}

/** A pause stops automatic rollbacks, but not an operator's abort. */
function failed(memory: RolloutMemory, failure: string, input: RolloutInput): RolloutVerdict {
  const { spec, waves, isKept } = input;
  const isPaused = spec.paused === true || memory.steering?.paused === true;
  const rollsBack = memory.aborted === true || (spec.failureBudget?.action === 'RollBack' && !isPaused);
  const { stable, rolledBack } = memory;
  const phase = rolledBack ? 'RolledBack' : 'Failed';
  if (!rollsBack || stable === undefined) return stopped(memory, phase, failure);
  // Earlier values are not stored. A Pod that is deleted would get the failed values again, in an endless loop.
  if (templateHashOf(stable) === templateHashOf(memory.revision)) {
    const remedy =
      'no rollback: only HostValues or overrides have changed; restore them with "everynode values undo" to replace the Pods';
    return stopped(memory, 'Failed', `${failure}; ${remedy}`);
  }
  const left = sum(waves, 'onRevision');
  const hasRolledBack = memory.completedAt === undefined && left === 0;
  // Without the stable revision, deleted Pods would be created of the failed revision again, in an endless loop.
  if (!hasRolledBack && isKept?.(stable) === false) {
    const message = `${failure}; no rollback: there is no ControllerRevision of ${stable} any more`;
    return stopped(memory, 'Failed', message);
  }
  if (memory.completedAt !== undefined) {
    const message = `${failure}; these nodes roll back to revision ${stable}, and no other node is updated`;
    return { ...stopped(memory, 'Failed', message), revert: 'late' };
  }
  if (hasRolledBack) {
    const message = `${failure}; no node has the revision any more`;
    return stopped({ ...memory, rolledBack: true }, 'RolledBack', message);
  }
  const message = `${failure}; ${countText(left, 'node rolls back', 'nodes roll back')} to revision ${stable}`;
  return { ...stopped(memory, phase, message), revert: 'all' };
}

function stopped(memory: RolloutMemory, phase: RolloutPhase, message: string): RolloutVerdict {
  return { memory: withoutSoak(memory), phase, message, openUpTo: -1 };
}

/** Opens the next wave as long as the open one is updated, has soaked, and the next one is approved. */
function advance(begun: RolloutMemory, input: RolloutInput): RolloutVerdict {
  const { spec, waves } = input;
  const names = waveNames(spec.waves ?? []);
  const { approved, promoted } = begun.steering ?? NO_STEERING;
  const last = waves.length - 1;
  let memory: RolloutMemory = { ...begun, wave: Math.min(begun.wave, last) };
  for (;;) {
    const { wave } = memory;
    const name = names[wave] ?? '';
    const held: Hold = wave < 0 ? { memory } : holdOf(memory, name, input);
    if (held.verdict) return held.verdict;
    memory = held.memory;
    const notReported = isListed(promoted, name) ? undefined : resyncPending(memory, name, waves);
    if (wave === last && notReported) return notReported;
    if (wave === last) return completed({ ...withoutSoak(memory), completedAt: input.now }, input);
    const next = names[wave + 1] ?? '';
    const mayOpen = isListed(approved, next) || isListed(promoted, name);
    if (spec.waves?.[wave + 1]?.approval === 'Manual' && !mayOpen) {
      const message = `wave ${next} waits for approval`;
      return { memory, openUpTo: wave, phase: 'AwaitingApproval', message };
    }
    if (notReported) return notReported;
    memory = { ...withoutSoak(memory), wave: wave + 1 };
  }
}

/** Why the rollout stays in its open wave. Without `verdict` it does not stay. */
interface Hold {
  memory: RolloutMemory;
  verdict?: RolloutVerdict;
}

function holdOf(open: RolloutMemory, name: string, { spec, waves, now }: RolloutInput): Hold {
  const { wave } = open;
  const begun = waves.slice(0, wave + 1);
  const missing = begun.reduce((total, counts) => total + outstanding(counts), 0);
  if (missing > 0) {
    const memory = withoutSoak(open);
    const outside = sum(begun, 'outsideWindow');
    const phase = outside === missing ? 'AwaitingWindow' : 'Progressing';
    const rest = [
      ...counted(outside, 'of them outside its window', 'of them outside their window'),
      ...counted(sum(begun, 'awaitingResync'), `of them ${NOT_REPORTED}`),
    ];
    const message = [`wave ${name}: ${countText(missing, 'node')} to go`, ...rest].join(', ');
    return { memory, verdict: { memory, openUpTo: wave, phase, message } };
  }
  if (isListed(open.steering?.promoted, name)) return { memory: open };
  const untried = untriedIn(waves[wave], wave === waves.length - 1);
  if (untried) {
    const memory = withoutSoak(open);
    const message = `wave ${name} has updated no node: ${untried}; the next wave opens when one of them is, or the wave is promoted`;
    return { memory, verdict: { memory, openUpTo: wave, phase: 'AwaitingHosts', message } };
  }
  // A future time was stored before the clock was set back.
  const soakingSince = Math.min(open.soakingSince ?? now, now);
  const memory = { ...open, soakingSince };
  const soakedAt = soakingSince + (spec.waves?.[wave]?.soakSeconds ?? 0) * 1000;
  if (now >= soakedAt) return { memory };
  const message = `wave ${name} is updated and soaks until ${toTimestamp(soakedAt)}`;
  return { memory, verdict: { memory, openUpTo: wave, phase: 'Soaking', message, requeueAt: soakedAt } };
}

/** Updated nodes may have failed while the coordinator was down. Wait for their report before the next wave opens. */
function resyncPending(
  memory: RolloutMemory,
  name: string,
  waves: readonly WaveCounts[],
): RolloutVerdict | undefined {
  const { wave } = memory;
  const notReported = counted(
    sum(waves.slice(0, wave + 1), 'awaitingResyncUpdated'),
    `of its nodes ${NOT_REPORTED}`,
  );
  if (notReported.length === 0) return undefined;
  const message = [`wave ${name} is updated and soaks`, ...notReported].join(', ');
  return { memory, openUpTo: wave, phase: 'Soaking', message };
}

/**
 * Describes a wave in which no node was updated, so that the revision is untested. Returns undefined if one was, or if
 * the wave has no nodes to update.
 */
function untriedIn(counts: WaveCounts | undefined, isLast: boolean): string | undefined {
  if (!counts || isLast || counts.updated > 0) return undefined;
  const { deferred, failed } = counts;
  const left = [...counted(deferred, 'offline'), ...counted(failed, 'failed')];
  return left.length > 0 ? left.join(', ') : undefined;
}

const NOT_REPORTED = 'not reported since the coordinator started';

/** Returns [] for a count of 0. */
function counted(count: number, one: string, many = one): string[] {
  return count > 0 ? [countText(count, one, many)] : [];
}

function withoutSoak({ soakingSince: _, ...memory }: RolloutMemory): RolloutMemory {
  return memory;
}
