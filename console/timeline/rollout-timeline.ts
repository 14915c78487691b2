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
  /** Events of the Rollout. */
  events: readonly KubeEvent[];
  /** Writes to the DaemonSet and the Rollout. Empty if the user may not read them. */
  activity: readonly AuditEvent[];
}

export function rolloutTimeline({ status, events, activity }: RolloutHistory): TimelineEntry[] {
  const requests = requestsOfRevision(status);
  const from = Date.parse(status.startTime);
  return mergeTimeline([
    steps(status, events),
    requests.map(requestEntry),
    activity.filter((event) => isOwnWrite(event, requests, from)).map(activityEntry),
    (status.failures ?? []).map(failureEntry),
    [start(status)],
  ]);
}

/** The change of the DaemonSet that started the rollout is stored shortly before the start. */
const BEFORE_START_MS = 60_000;

/** False for a request that the Rollout itself lists, and for writes before this rollout. */
function isOwnWrite(
  { objectRef, requestReceivedTimestamp }: AuditEvent,
  requests: readonly SteeringRequest[],
  from: number,
): boolean {
  const at = Date.parse(requestReceivedTimestamp);
  if (objectRef?.resource === 'daemonsets') return at >= from - BEFORE_START_MS;
  const [first] = requests;
  return objectRef?.resource === 'rollouts' && at >= from && (!first || at < Date.parse(first.time) - 1_000);
}

function start({ startTime, revisionNumber, revision, policy }: RolloutStatus): TimelineEntry {
  const text = `The rollout of revision ${revisionNumber ?? revision} started by policy ${policy}.`;
  return { at: startTime, kind: 'rollout', tone: 'progress', text };
}

/** Events report each phase for an hour. The end is in the status for longer. */
function steps({ phase, endTime, completionTime, message }: RolloutStatus, events: readonly KubeEvent[]) {
  const ofPhases = events
    .filter(({ reason = '' }) => reason.startsWith('Rollout') && reason !== 'RolloutSteered')
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
