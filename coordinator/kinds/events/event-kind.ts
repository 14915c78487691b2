/** v1 Event. */
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import { ageText, durationText } from '../duration-text.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { column, NAME_COLUMN, wideColumn } from '../table-column.js';
import { validateEvent } from './event-validation.js';

/** Newer clients set only `eventTime`. */
function firstSeen(event: KubeEvent, now: number): string {
  return ageText(event.firstTimestamp ?? event.eventTime, now);
}

function lastSeen(event: KubeEvent, now: number): string {
  if (event.series?.lastObservedTime) return durationText(now - Date.parse(event.series.lastObservedTime));
  return event.lastTimestamp ? durationText(now - Date.parse(event.lastTimestamp)) : firstSeen(event, now);
}

function sourceOf(event: KubeEvent): string {
  return event.source?.component || event.reportingComponent || '';
}

function sourceText(event: KubeEvent): string {
  const parts = [sourceOf(event), event.source?.host ?? event.reportingInstance ?? ''];
  return parts.filter((part) => part !== '').join(', ');
}

function objectText(event: KubeEvent): string {
  const { kind, name } = event.involvedObject;
  return name ? `${(kind ?? '').toLowerCase()}/${name}` : (kind ?? '').toLowerCase();
}

function count(event: KubeEvent): number {
  return event.series?.count || event.count || 1;
}

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

const involvedFields = Object.fromEntries(
  INVOLVED.map((key) => [
    `involvedObject.${key}`,
    (event: KubeEvent): string => event.involvedObject?.[key] ?? '',
  ]),
);

export const eventKind: Kind<KubeEvent> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.Event',
  subresources: {},
  columns: [
    column('Last Seen', 'string', 'Time since it happened last.', lastSeen),
    column('Type', 'string', 'Normal or Warning.', (event) => event.type ?? ''),
    column('Reason', 'string', 'What happened, in one word.', (event) => event.reason ?? ''),
    column('Object', 'string', 'The object it is about.', objectText),
    wideColumn(
      'Subobject',
      'string',
      'The part of the object it is about.',
      (event) => event.involvedObject.fieldPath ?? '',
    ),
    wideColumn('Source', 'string', 'Who reported it.', sourceText),
    column('Message', 'string', 'What happened, for a person to read.', (event) =>
      (event.message ?? '').trim(),
    ),
    wideColumn('First Seen', 'string', 'Time since it happened first.', firstSeen),
    wideColumn('Count', 'integer', 'How often it happened.', count),
    { ...NAME_COLUMN, priority: 1 },
  ],
  fields: {
    ...involvedFields,
    reason: (event) => event.reason ?? '',
    reportingComponent: (event) => event.reportingComponent ?? '',
    source: sourceOf,
    type: (event) => event.type ?? '',
  },
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: (event) => {
    event.involvedObject ??= {};
  },
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate: validateEvent,
  validateUpdate: () => [],
  warnings: () => [],
};
