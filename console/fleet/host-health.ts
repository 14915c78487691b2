/** What is to be said of a host first: one word, by how much it needs a person. */
import type { Host } from '../../shared/kube/fleet/host-types.js';

/** From worst to best. */
export const HOST_HEALTH_STATES = ['failing', 'notReady', 'dark', 'pressure', 'cordoned', 'well'] as const;

export type HostHealth = (typeof HOST_HEALTH_STATES)[number];

/** As people read them. */
export const HOST_HEALTH_NAMES: Readonly<Record<HostHealth, string>> = {
  failing: 'Pods failing',
  notReady: 'Not ready',
  dark: 'Dark',
  pressure: 'Under pressure',
  cordoned: 'Cordoned',
  well: 'Well',
};

/** The worst that is true of the host. A dark host's Pods may do well: nobody knows. */
export function hostHealth({ status }: Host): HostHealth {
  if (status.state === 'Unknown' || status.state === 'Disconnected') return 'dark';
  if (status.state === 'NotReady') return 'notReady';
  if (status.pods.failing > 0) return 'failing';
  if (status.pressures.length > 0) return 'pressure';
  return status.unschedulable ? 'cordoned' : 'well';
}
