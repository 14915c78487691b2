/** events.k8s.io/v1 Event: another version of the stored v1 Events, for newer clients. */
import type { EventsV1Event, KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { eventKind } from './event-kind.js';
import { toCoreEvent, toEventsV1 } from './events-v1-conversion.js';
import { validateEventsV1, validateEventsV1Update, validateNewEventsV1 } from './events-v1-validation.js';

/** Field labels by their v1 labels. The others have the same name, except `source`, which this version lacks. */
const LABELS: readonly (readonly [string, string])[] = [
  ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
    (field) => [`regarding.${field}`, `involvedObject.${field}`] as const,
  ),
  ['reason', 'reason'],
  ['reportingController', 'reportingComponent'],
  ['type', 'type'],
];

const fields = Object.fromEntries(
  LABELS.map(([label, stored]) => [
    label,
    (event: EventsV1Event): string => eventKind.fields[stored]?.(toCoreEvent(event)) ?? '',
  ]),
);

export const eventsV1Kind: Kind<EventsV1Event> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  singular: 'event',
  shortNames: ['ev'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.events.v1.Event',
  subresources: {},
  columns: eventKind.columns.map((column) => ({
    ...column,
    cell: (event, now) => column.cell(toCoreEvent(event), now),
  })),
  fields,
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: (event) => {
    event.regarding ??= {};
  },
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate: validateEventsV1,
  validateCreate: validateNewEventsV1,
  validateUpdate: validateEventsV1Update,
  warnings: () => [],
  view: {
    storedAs: eventKind,
    toStored: toCoreEvent,
    fromStored: (stored) => toEventsV1(stored as KubeEvent),
  },
};
