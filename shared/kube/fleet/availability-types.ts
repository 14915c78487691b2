/** How long hosts were Ready in the last day and the last week. Computed from outages that the coordinator stores. */
import type { Timestamp } from '../objects/meta.js';

/** Time in which no coordinator ran is not observed. The share is undefined while nothing was observed. */
export interface AvailabilityShare {
  observedSeconds: number;
  readySeconds: number;
}

/** The sums over the hosts of a group for the last day and the last week. */
export interface AvailabilitySums {
  day: AvailabilityShare;
  week: AvailabilityShare;
}

/** A part of `hosts/NAME/readings`. */
export interface HostAvailability extends AvailabilitySums {
  /** Times of the last week in which the host was not Ready, oldest first. `to` is absent while it lasts. */
  outages: {
    from: Timestamp;
    to?: Timestamp;
    /** Less than the length if short outages were merged. */
    downSeconds: number;
  }[];
  /** Times of the last week in which no coordinator observed the host. */
  unknown: { from: Timestamp; to: Timestamp }[];
}

/** `GET …/fleet.everynode.dev/v1/hostavailability`, with `by=LABEL` also for the hosts of each value of that label. */
export interface FleetAvailability extends AvailabilitySums {
  kind: 'HostAvailability';
  apiVersion: string;
  /** Keys of labels that can name sites, sorted: several values, but fewer than hosts that have it. */
  labels: string[];
  /** `value` is absent for the hosts without the label. `hosts` counts all Nodes. Empty without `by`. */
  groups: (AvailabilitySums & { value?: string; hosts: number })[];
}
