/** What happened to an object, from several sources, in one order. Pure. */
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import type { KubeEvent } from '../../shared/kube/objects/event-types.js';
import { activitySentence } from '../audit/activity-sentence.js';
import { changeSummary, recordedChangesOf } from '../audit/change-summary.js';
import type { StatusTone } from '../layout/status/object-status.js';

/** In the order of the filter. */
const TIMELINE_KINDS = ['rollout', 'link', 'condition', 'pod', 'event', 'activity'] as const;

type TimelineKind = (typeof TIMELINE_KINDS)[number];

export const KIND_NAMES: Readonly<Record<TimelineKind, string>> = {
  rollout: 'Rollout',
  link: 'Link',
  condition: 'Conditions',
  pod: 'Pods',
  event: 'Events',
  activity: 'Activity of users',
};

export interface TimelineEntry {
  /** RFC 3339. */
  at: string;
  kind: TimelineKind;
  tone: StatusTone;
  text: string;
  /** A page about the entry. */
  link?: { href: string; name: string };
}

/** Later entries are not shown. */
export const MOST_ENTRIES = 200;

/**
 * Returns the entries of all sources, newest first, without entries that have no time. Entries of the same second keep
 * the order of their sources: a cause is listed above its effects' records in other sources.
 */
export function mergeTimeline(sources: readonly (readonly TimelineEntry[])[]): TimelineEntry[] {
  return sources
    .flat()
    .map((entry) => ({ entry, second: Math.floor(Date.parse(entry.at) / 1000) }))
    .filter(({ second }) => !Number.isNaN(second))
    .sort((a, b) => b.second - a.second)
    .map(({ entry }) => entry);
}

/** Returns the kinds that occur, in the order of the filter. */
export function kindsOf(entries: readonly TimelineEntry[]): TimelineKind[] {
  return TIMELINE_KINDS.filter((kind) => entries.some((entry) => entry.kind === kind));
}

/** The last time of an Event that may have been repeated. */
export function timeOfEvent({ series, lastTimestamp, eventTime, metadata }: KubeEvent): string {
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}

export function eventEntry(event: KubeEvent, kind: TimelineKind = 'event'): TimelineEntry {
  const { reason = '', message = '', count = 1, type } = event;
  const times = event.series?.count ?? count;
  return {
    at: timeOfEvent(event),
    kind,
    tone: type === 'Warning' ? 'waiting' : 'over',
    text: `${reason}: ${message}${times > 1 ? ` (${times} times)` : ''}`,
  };
}

/** A write of a user, with what it changed. */
export function activityEntry(event: AuditEvent): TimelineEntry {
  const { who, did, kind, object } = activitySentence(event);
  const summary = changeSummary(event, recordedChangesOf(event));
  const query = new URLSearchParams({ range: 'all', object });
  return {
    at: event.requestReceivedTimestamp,
    kind: 'activity',
    tone: 'progress',
    text: `${who} ${did} ${kind} ${object}${summary && `: ${summary}`}`,
    link: { href: `/audit?${query}`, name: 'Show in Activity' },
  };
}
