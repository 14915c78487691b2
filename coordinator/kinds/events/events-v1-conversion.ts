/** Conversion between v1 and events.k8s.io/v1 Events (`pkg/apis/events/v1/conversion.go`). */
import type { EventsV1Event, KubeEvent } from '../../../shared/kube/objects/event-types.js';

/** Names in v1 by names in events.k8s.io/v1. All other fields have the same name. */
const RENAMED = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
} as const;

const TO_STORED: ReadonlyMap<string, string> = new Map(Object.entries(RENAMED));
const FROM_STORED: ReadonlyMap<string, string> = new Map(
  Object.entries(RENAMED).map(([name, stored]) => [stored, name]),
);

function renamed(object: object, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const entries = Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]);
  return Object.fromEntries(entries);
}

/** Returns the v1 Event. It shares unchanged values with `event`. */
export function toCoreEvent(event: EventsV1Event): KubeEvent {
  const converted = { ...renamed(event, TO_STORED), apiVersion: 'v1', kind: 'Event' } as unknown as KubeEvent;
  converted.involvedObject ??= {};
  return converted;
}

/** Returns the events.k8s.io/v1 Event. `eventTime` is always present, because it is no optional field there. */
export function toEventsV1(event: KubeEvent): EventsV1Event {
  const converted = renamed(event, FROM_STORED);
  return {
    ...converted,
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: event.metadata,
    eventTime: event.eventTime ?? null,
  };
}
