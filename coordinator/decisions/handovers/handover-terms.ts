/** The terms on which a policy lets hosts replace their Pods themselves. */
import {
  compileMaintenanceSchedules,
  type MaintenanceSchedule,
} from '../../../shared/calendar/maintenance-schedule.js';
import type { HandoverWindow, HostHandover } from '../../../shared/kube/handovers/host-handover.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';
import { isListed } from '../rollouts/steering-state.js';

/** A handover without the successor Pod. */
export type HandoverTerms = Omit<HostHandover, 'successor'>;

const DEFAULT_CONFIRM_SECONDS = 300;
const DEFAULT_HOLD_SECONDS = 3600;

/** An offline host may start its handover in any window within this time, in ms. Later it needs new windows. */
const HORIZON_MS = 7 * 86_400_000;
const MAX_WINDOWS = 20;

interface TurnNode {
  name: string;
  labels: Labels | undefined;
}

/**
 * Returns a function from a node to its terms. The terms are undefined if the coordinator replaces the Pod itself.
 * `now` in ms.
 */
export function handoverTerms(
  spec: RolloutPolicySpec,
  steering: SteeringStatus | undefined,
  now: number,
): (node: TurnNode) => HandoverTerms | undefined {
  const { confirm, updateLock, prePull, windows, freezes } = spec;
  const hasTimes = (windows ?? []).length + (freezes ?? []).length > 0;
  if (!confirm && !updateLock && !prePull && !hasTimes) return () => undefined;
  // Compiled with the first handover, because most reconciles request none.
  let classify: ReturnType<typeof compileMaintenanceSchedules> | undefined;
  return ({ name, labels }) => {
    classify ??= compileMaintenanceSchedules(spec);
    const own = isListed(steering?.overridden, name) ? undefined : handoverWindows(classify(labels), now);
    return {
      ...(own && { windows: own }),
      ...(confirm && { confirmSeconds: confirmSecondsOf(spec) }),
      ...lockTerms(spec, isListed(steering?.forced, name) ? whoForced(name, steering?.requests) : undefined),
    };
  };
}

/** Returns how long an update lock on the host may delay it. `forcedBy`: the user who overrides the lock, and the reason. */
export function lockTerms(
  { updateLock }: RolloutPolicySpec,
  forcedBy: string | undefined,
): Pick<HostHandover, 'maxLockSeconds' | 'forcedBy'> {
  if (!updateLock) return {};
  return {
    maxLockSeconds: updateLock.maxSeconds ?? DEFAULT_HOLD_SECONDS,
    ...(forcedBy !== undefined && { forcedBy }),
  };
}

/** How long a host watches its new Pod before it confirms it. 0: hosts do not confirm. */
export function confirmSecondsOf({ confirm }: RolloutPolicySpec): number {
  return confirm ? (confirm.deadlineSeconds ?? DEFAULT_CONFIRM_SECONDS) : 0;
}

/** Returns the windows in which Pods with this schedule may be replaced, from now on. Undefined: at any time. */
export function handoverWindows(hours: MaintenanceSchedule, now: number): HandoverWindow[] | undefined {
  const end = now + HORIZON_MS;
  const windows: HandoverWindow[] = [];
  for (let time = now; time < end && windows.length < MAX_WINDOWS; ) {
    const { replace, until } = hours.at(time);
    if (replace && until === undefined && time === now) return undefined;
    const next = Math.min(until ?? end, end);
    if (replace) windows.push({ from: toTimestamp(time), until: toTimestamp(next) });
    time = next;
  }
  return windows;
}

function whoForced(node: string, requests: readonly SteeringRequest[] = []): string {
  const last = requests.findLast(
    ({ verb, targets }) => verb === 'override-locks' && (!targets || isListed(targets, node)),
  );
  return last ? `${last.user}${last.reason ? `: ${last.reason}` : ''}` : 'the rollout';
}
