/** What the API asks of whoever knows how hosts have done of late. */
import type { HostReadings } from '../../../shared/kube/fleet/host-reading-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

export interface HostReadingSource {
  /** Empty columns for a host that has told nothing. */
  of(name: string): Omit<HostReadings, keyof KubeObject>;
}
