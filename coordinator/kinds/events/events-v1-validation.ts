/** Validation of events.k8s.io/v1 Events, which is stricter than that of v1 (`pkg/apis/core/validation/events.go`). */
import type { EventsV1Event, KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { FieldError } from '../kind.js';
import { FIELD_IMMUTABLE, invalidValue, required } from '../validation/field-error.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateEvent } from './event-validation.js';
import { toCoreEvent } from './events-v1-conversion.js';

/** Clients delete an Event and create another one instead of changing these. Upstream's errors use v1 names. */
const IMMUTABLE = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const satisfies readonly (keyof KubeEvent)[];

/** Fields that only older clients set, through v1. */
const UNSET = ['firstTimestamp', 'lastTimestamp', 'count'] as const;

function nameInError(field: string): string {
  return field === 'reportingComponent' ? 'reportingController' : field;
}

function validateSeries({ series }: KubeEvent): FieldError[] {
  if (!series) return [];
  const { count = 0, lastObservedTime } = series;
  return [
    ...(count < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(lastObservedTime ? [] : [required('series.lastObservedTime')]),
  ];
}

/** Returns the errors that v1 has, too. */
export function validateEventsV1(event: EventsV1Event): FieldError[] {
  return validateEvent(toCoreEvent(event)).map((error) => ({ ...error, field: nameInError(error.field) }));
}

/** Returns the errors of a new Event in addition to `validateEventsV1`. */
export function validateNewEventsV1(created: EventsV1Event): FieldError[] {
  const event = toCoreEvent(created);
  const { type = '', source } = event;
  const isKnown = type === 'Normal' || type === 'Warning';
  return [
    ...validateSeries(event),
    ...(event.eventTime ? [] : [required('eventTime')]),
    ...(isKnown ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...UNSET.filter((field) => event[field]).map((field) => invalidValue(field, '', 'needs to be unset')),
    ...(source?.component || source?.host ? [invalidValue('source', '', 'needs to be unset')] : []),
  ];
}

/** Returns the errors of a change in addition to `validateEventsV1`. */
export function validateEventsV1Update(next: EventsV1Event, current: EventsV1Event): FieldError[] {
  const [after, before] = [toCoreEvent(next), toCoreEvent(current)];
  const changed = IMMUTABLE.filter((field) => !semanticallyEqual(after[field], before[field]));
  return [
    ...(semanticallyEqual(after.series, before.series) ? [] : validateSeries(after)),
    ...changed.map((field) => invalidValue(nameInError(field), after[field], FIELD_IMMUTABLE)),
  ];
}
