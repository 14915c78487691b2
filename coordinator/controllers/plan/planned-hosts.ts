/** The result of a simulation for each host: what changes, when, and why not at once. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostAction, PlannedHost, PlannedWave } from '../../../shared/kube/fleet/plan-types.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import { type Placement, type PlacementNode, placementOf } from '../../decisions/placement/placement.js';
import { PLACEMENT_REASON_CODES, type ReasonCode } from '../../decisions/reasons/reason-code.js';
import type { RolloutStrategy } from './rollout-strategy.js';
import type { InitialHost, SimulatedHostState, SimulatedHosts } from './simulated-hosts.js';

/** A host's reason right after the apply. */
export interface FirstReason {
  code: ReasonCode | RolloutReasonCode;
  because?: string;
}

const isLive = ({ terminating }: { terminating: boolean }) => !terminating;

/** Returns the reason when all actions have been ordered that may be ordered at once. */
export function firstReason(
  host: InitialHost,
  hostState: SimulatedHostState,
  object: PlacementNode | undefined,
  daemonSet: DaemonSet,
  strategy: RolloutStrategy,
): FirstReason {
  const placement: Placement | undefined = object && placementOf(object, daemonSet.spec.template.spec);
  const had = host.pods.some(isLive);
  if (!placement) return { code: 'NodeNotFound', because: 'there is no such Node' };
  if (!placement.shouldRun) {
    const stays = placement.shouldContinueRunning && had;
    const next =
      stays && host.updateRefusal !== undefined
        ? `, and its next Pod cannot be made: ${host.updateRefusal}`
        : '';
    return {
      code: stays ? 'KeptDespiteTaint' : PLACEMENT_REASON_CODES[placement.rule],
      because: `${placement.reason}${next}`,
    };
  }
  const isMoved = hostState.created > 0 || hostState.deleted > 0;
  const old = hostState.pods.find((pod) => isLive(pod) && !pod.updated);
  if (!isMoved && host.updateRefusal !== undefined) {
    return { code: 'FailedCreate', because: host.updateRefusal };
  }
  if (isMoved && host.contact !== 'here') return OFFLINE;
  if (isMoved) return { code: had ? 'Updating' : 'Creating' };
  if (old || !hostState.pods.some(isLive)) return strategy.blockReason(host.name);
  return { code: 'Updated' };
}

const OFFLINE: FirstReason = { code: 'NodeOffline', because: 'its agent is not connected' };

function actionOf(
  { pods: before, contact }: InitialHost,
  hostState: SimulatedHostState,
  eligible: boolean,
): HostAction {
  const had = before.some(isLive);
  const live = hostState.pods.filter(isLive);
  const isMoved = hostState.created > 0 || hostState.deleted > 0;
  if (isMoved && contact !== 'here') return 'wait';
  if (isMoved) return live.length === 0 ? 'stop' : had ? 'replace' : 'start';
  if (eligible && (live.length === 0 || live.some((pod) => !pod.updated))) return 'wait';
  return had ? 'keep' : 'none';
}

/** A completed simulation. */
interface CompletedSimulation {
  reasons: ReadonlyMap<string, FirstReason>;
  strategy: RolloutStrategy;
  /** Start of the simulation, in ms since the epoch. */
  started: number;
}

/** Returns all hosts by name. */
export function plannedHosts(
  befores: readonly InitialHost[],
  hosts: SimulatedHosts,
  { reasons, strategy, started }: CompletedSimulation,
): PlannedHost[] {
  const seconds = (at: number) => (at - started) / 1000;
  return befores
    .map((host): PlannedHost => {
      const hostState = hosts.hostState(host.name) ?? { pods: [], created: 0, deleted: 0 };
      const action = actionOf(host, hostState, host.shouldRun);
      const wave = strategy.waveOf(host.name);
      const { code, because }: FirstReason = refusalReason(hostState) ??
        reasons.get(host.name) ?? { code: 'Updated' };
      const isForeseen =
        action !== 'wait' && hostState.firstAt !== undefined && hostState.lastAt !== undefined;
      return {
        node: host.name,
        action,
        code,
        ...(because === undefined ? {} : { message: because }),
        ...(wave === undefined || !host.shouldRun ? {} : { wave }),
        ...(isForeseen
          ? { startSeconds: seconds(hostState.firstAt ?? 0), endSeconds: seconds(hostState.lastAt ?? 0) }
          : {}),
      };
    })
    .sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** For a host whose next Pod the API refuses. The refusal is the same for all hosts and is shown in `blockedBy`. */
function refusalReason({ isRefused }: SimulatedHostState): FirstReason | undefined {
  return isRefused ? { code: 'FailedCreate', because: 'the API refuses its Pod' } : undefined;
}

export function plannedWaves({ waves }: RolloutStrategy, hosts: readonly PlannedHost[]): PlannedWave[] {
  return waves.map(({ name, needsApproval }) => {
    const own = hosts.filter(({ wave }) => wave === name);
    const changing = own.filter(({ action }) => action !== 'keep' && action !== 'none');
    const starts = changing.flatMap(({ startSeconds }) => startSeconds ?? []);
    const ends = changing.flatMap(({ endSeconds }) => endSeconds ?? []);
    return {
      name,
      nodes: own.length,
      changes: changing.length,
      ...(starts.length > 0 ? { startSeconds: least(starts), endSeconds: maxOf(ends) } : {}),
      ...(needsApproval ? { needsApproval } : {}),
    };
  });
}

/** Not `Math.max(...values)`: there may be more hosts than a call can take arguments. */
export function maxOf(values: readonly number[]): number {
  return values.reduce((top, value) => Math.max(top, value), Number.NEGATIVE_INFINITY);
}

function least(values: readonly number[]): number {
  return values.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
}
