/** Health of a host: its most important problem in one word. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';

/** Worst first. */
export const HOST_HEALTH_STATES = [
  'failing',
  'notReady',
  'offline',
  'pressure',
  'cordoned',
  'healthy',
] as const;

export type HostHealth = (typeof HOST_HEALTH_STATES)[number];

export const HOST_HEALTH_NAMES: Readonly<Record<HostHealth, string>> = {
  failing: 'Pods failing',
  notReady: 'Not ready',
  offline: 'Offline',
  pressure: 'Under pressure',
  cordoned: 'Cordoned',
  healthy: 'Healthy',
};

/** Returns the worst state that applies. The Pods of an offline host may still be running. */
export function hostHealth({ status }: Host): HostHealth {
  if (status.state === 'Unknown' || status.state === 'Disconnected') return 'offline';
  if (status.state === 'NotReady') return 'notReady';
  if (status.pods.failing > 0) return 'failing';
  if (status.pressures.length > 0) return 'pressure';
  return status.unschedulable ? 'cordoned' : 'healthy';
}
