/** What the API asks of whoever counts what hosts cost. */
import type { HostMeters } from '../../../shared/kube/fleet/host-meter-types.js';

export interface HostMeterSource {
  /** Undefined for a host that has not connected since the coordinator's start. */
  of(name: string): HostMeters | undefined;
}
