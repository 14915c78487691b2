/** core/v1 Event and coordination.k8s.io/v1 Lease. */
import type { KubeObject, MicroTime, Timestamp } from './meta.js';

export interface ObjectReference {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiVersion?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface KubeEvent extends KubeObject {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  source?: { component?: string; host?: string };
  firstTimestamp?: Timestamp | null;
  lastTimestamp?: Timestamp | null;
  count?: number;
  type?: string;
  eventTime?: MicroTime | null;
  action?: string;
  reportingComponent?: string;
  reportingInstance?: string;
  series?: EventSeries;
  related?: ObjectReference;
}

/** Repeated occurrences, as newer clients count them. */
interface EventSeries {
  count?: number;
  lastObservedTime?: MicroTime | null;
}

/** events.k8s.io/v1 Event: the same object with other field names. */
export interface EventsV1Event
  extends KubeObject,
    Pick<KubeEvent, 'reason' | 'type' | 'eventTime' | 'action' | 'reportingInstance' | 'series' | 'related'> {
  regarding?: ObjectReference;
  note?: string;
  reportingController?: string;
  deprecatedSource?: KubeEvent['source'];
  deprecatedFirstTimestamp?: Timestamp | null;
  deprecatedLastTimestamp?: Timestamp | null;
  deprecatedCount?: number;
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: MicroTime;
    renewTime?: MicroTime;
    leaseTransitions?: number;
  };
}
