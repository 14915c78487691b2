/** What a policy lets hosts decide by themselves, as the terms of one host's turn. */
import {
  compileMaintenanceSchedules,
  type MaintenanceSchedule,
} from '../../../shared/calendar/maintenance-schedule.js';
import type { HandoverWindow, HostHandover } from '../../../shared/kube/handovers/host-handover.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { ALL_TARGETS, type SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';

/** All of a turn but the Pod that it brings. */
export type HandoverTerms = Omit<HostHandover, 'successor'>;

const DEFAULT_CONFIRM_SECONDS = 300;
const DEFAULT_HOLD_SECONDS = 3600;

/** A host out of contact may begin its turn in any window of this time, ms; then the coordinator has to name others. */
const HORIZON_MS = 7 * 86_400_000;
const MAX_WINDOWS = 20;

/** A node whose turn it is. */
interface TurnNode {
  name: string;
  labels: Labels | undefined;
}

/** Tells what each host may decide by itself; undefined: nothing, and its Pod is replaced from here. `now` in ms. */
export function handoverTerms(
  spec: RolloutPolicySpec,
  steering: SteeringStatus | undefined,
  now: number,
): (node: TurnNode) => HandoverTerms | undefined {
  const { confirm, updateLock, prePull, windows, freezes } = spec;
  const hasTimes = (windows ?? []).length + (freezes ?? []).length > 0;
  if (!confirm && !updateLock && !prePull && !hasTimes) return () => undefined;
  // Patterns are compiled when the first turn is given: most looks give none.
  let classify: ReturnType<typeof compileMaintenanceSchedules> | undefined;
  return ({ name, labels }) => {
    classify ??= compileMaintenanceSchedules(spec);
    const own = isAmong(name, steering?.overridden) ? undefined : handoverWindows(classify(labels), now);
    return {
      ...(own && { windows: own }),
      ...(confirm && { confirmSeconds: confirmSecondsOf(spec) }),
      ...(updateLock && { maxLockSeconds: updateLock.maxSeconds ?? DEFAULT_HOLD_SECONDS }),
      ...(updateLock && isAmong(name, steering?.forced) && { forcedBy: whoForced(name, steering?.requests) }),
    };
  };
}

/** How long a host watches its new Pod before it confirms it; 0: it does not. */
export function confirmSecondsOf({ confirm }: RolloutPolicySpec): number {
  return confirm ? (confirm.deadlineSeconds ?? DEFAULT_CONFIRM_SECONDS) : 0;
}

/** When the Pods of nodes with these hours may be replaced, from now on; undefined: whenever. */
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

/** Whether a person has named the node, or all. */
export function isAmong(name: string, named: readonly string[] | undefined): boolean {
  return named?.includes(name) === true || named?.includes(ALL_TARGETS) === true;
}

function whoForced(node: string, requests: readonly SteeringRequest[] = []): string {
  const last = requests.findLast(
    ({ verb, targets }) => verb === 'override-locks' && (!targets || isAmong(node, targets)),
  );
  return last ? `${last.user}${last.reason ? `: ${last.reason}` : ''}` : 'the rollout';
}
