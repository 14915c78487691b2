/** What happened in a rollout: its steps, failed hosts, requests of operators and writes to its DaemonSet. Pure. */
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import {
  type HostFailure,
  type RolloutPhase,
  type RolloutStatus,
  requestsOfRevision,
} from '../../shared/kube/rollouts/rollout-types.js';
import type { SteeringRequest, SteeringVerb } from '../../shared/kube/rollouts/steering-requests.js';
import { rolloutStatus, type StatusTone } from '../layout/status/object-status.js';
import { activityEntry, mergeTimeline, type TimelineEntry, timeOfEvent } from './timeline-entry.js';

interface RolloutHistory {
  status: RolloutStatus;
  /** True for a rollout that another one has followed. */
  isPast: boolean;
  /** Creation of the revision. Absent if it is not stored any more. */
  revisionTime?: string | null | undefined;
  /** Events of the Rollout. */
  events: readonly KubeEvent[];
  /** Writes to the DaemonSet and the Rollout. Empty if the user may not read them. */
  activity: readonly AuditEvent[];
}

export function rolloutTimeline(history: RolloutHistory): TimelineEntry[] {
  const { status } = history;
  const requests = requestsOfRevision(status);
  return mergeTimeline([
    steps(history, firstTime(history, requests)).reverse(),
    requests.map(requestEntry).reverse(),
    ownWrites(history, requests).map(activityEntry).reverse(),
    (status.failures ?? []).map(failureEntry).reverse(),
    [start(status)],
  ]);
}

/** The change of the DaemonSet that started the rollout is stored shortly before the start. */
const BEFORE_START_MS = 60_000;

/**
 * Returns the write that started the rollout, and later writes, without requests that the Rollout itself lists. Writes after
 * the end of a past rollout belong to its successors.
 */
function ownWrites(
  { status: { startTime, endTime, completionTime }, isPast, activity }: RolloutHistory,
  requests: readonly SteeringRequest[],
): AuditEvent[] {
  const from = Date.parse(startTime);
  const end = endTime ?? completionTime;
  // The end is a whole second.
  const until = isPast && end ? Date.parse(end) + 1_000 : Number.POSITIVE_INFINITY;
  const at = ({ requestReceivedTimestamp }: AuditEvent) => Date.parse(requestReceivedTimestamp);
  const toDaemonSet = activity.filter(({ objectRef }) => objectRef?.resource === 'daemonsets');
  const cause = toDaemonSet.filter((each) => at(each) <= from && at(each) >= from - BEFORE_START_MS).at(-1);
  const [first] = requests;
  const listedFrom = first ? Date.parse(first.time) - 1_000 : Number.POSITIVE_INFINITY;
  return activity.filter((event) => {
    if (event === cause) return true;
    if (at(event) <= from || at(event) >= until) return false;
    const { resource } = event.objectRef ?? {};
    return resource === 'daemonsets' || (resource === 'rollouts' && at(event) < listedFrom);
  });
}

function start({ startTime, revisionNumber, revision, policy }: RolloutStatus): TimelineEntry {
  const text = `The rollout of revision ${revisionNumber ?? revision} started by policy ${policy}.`;
  return { at: startTime, kind: 'rollout', tone: 'progress', text };
}

/**
 * Returns the start of the first attempt. A retry resets the start of the rollout, but earlier steps of the same revision
 * still belong to it. Steps of earlier revisions do not.
 */
function firstTime(
  { status: { startTime, retryTime }, revisionTime }: RolloutHistory,
  [request]: readonly SteeringRequest[],
): string {
  return retryTime === undefined ? startTime : (revisionTime ?? request?.time ?? startTime);
}

/** Events report each phase for an hour. The end is in the status for longer. */
function steps({ status, events }: RolloutHistory, from: string) {
  const { phase, endTime, completionTime, message } = status;
  const ofPhases = events
    .filter(({ reason = '' }) => reason.startsWith('Rollout') && reason !== 'RolloutSteered')
    .filter((event) => timeOfEvent(event) >= from)
    .sort((a, b) => (timeOfEvent(a) < timeOfEvent(b) ? -1 : 1))
    .map((event): TimelineEntry & { phase: string } => {
      const reached = (event.reason ?? '').slice('Rollout'.length) as RolloutPhase;
      const { tone, word } = rolloutStatus(reached) ?? { tone: 'progress', word: reached };
      const at = timeOfEvent(event);
      return { at, kind: 'rollout', tone, text: `${word}: ${event.message ?? ''}`, phase: reached };
    });
  const end = endTime ?? completionTime;
  const isReported = ofPhases.some((each) => each.phase === phase);
  if (!end || isReported) return ofPhases;
  const { tone, word } = rolloutStatus(phase);
  return [...ofPhases, { at: end, kind: 'rollout' as const, tone, text: `${word}: ${message}` }];
}

const VERBS: Readonly<Record<SteeringVerb, string>> = {
  approve: 'approved',
  promote: 'promoted',
  pause: 'paused the rollout',
  freeze: 'froze the rollout',
  resume: 'resumed the rollout',
  abort: 'aborted the rollout',
  retry: 'started the rollout again',
  skip: 'skipped',
  unskip: 'included again',
  'override-windows': 'overrode the windows of',
  'override-locks': 'overrode the local locks of',
};
const REQUEST_TONES: Readonly<Partial<Record<SteeringVerb, StatusTone>>> = {
  approve: 'ok',
  abort: 'failed',
  pause: 'waiting',
  freeze: 'waiting',
};

/** Returns for example `ann approved tenth: “looks good”`. */
function requestEntry({ verb, targets = [], reason, user, time }: SteeringRequest): TimelineEntry {
  const all = targets.map((target) => (target === '*' ? 'all hosts' : target)).join(', ');
  const text = `${user} ${VERBS[verb]} ${all}`.trimEnd();
  return {
    at: time,
    kind: 'activity',
    tone: REQUEST_TONES[verb] ?? 'progress',
    text: reason ? `${text}: “${reason}”` : text,
  };
}

function failureEntry({ node, reason, message, time }: HostFailure): TimelineEntry {
  const text = `Host ${node} failed: ${reason}${message ? `, ${message}` : ''}`;
  return { at: time, kind: 'pod', tone: 'failed', text, link: { href: `/hosts/${node}`, name: node } };
}
