/** Why Pods of a workload fail, so that hosts with the same problem are one item. Pure. */
import type { FailingPod, Host } from '../../shared/kube/fleet/host-types.js';
import { hostHealth } from '../layout/status/host-health.js';

/** What operators distinguish. A Pod changes between the reasons of one kind all the time. */
const KINDS: readonly (readonly [words: string, reasons: readonly string[]])[] = [
  [
    'image cannot be pulled',
    ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'RegistryUnavailable'],
  ],
  ['container keeps failing', ['CrashLoopBackOff', 'Restarting', 'RunContainerError', 'Failed', 'Error']],
  ['container cannot be created', ['CreateContainerConfigError', 'CreateContainerError']],
  ['Pods are evicted', ['Evicted']],
];

/** Pods with an equal cause need the same repair. */
interface FailingCause {
  /** Identifies the cause in addresses: `default/till image cannot be pulled`. */
  id: string;
  /** `namespace/name` of the workload, or of the Pod if it has none. */
  workload: string;
  /** What is wrong, without the workload. */
  words: string;
}

export function failingCause({ namespace, name, owner, reason }: FailingPod): FailingCause {
  const [words] = KINDS.find(([, reasons]) => reasons.includes(reason)) ?? [reason];
  const workload = `${namespace}/${owner?.split('/')[1] ?? name}`;
  return { id: `${workload} ${words}`, workload, words };
}

/** Cause of failing hosts of which no failing Pod is listed: the user may not see the Pods. */
export const UNLISTED_CAUSE = 'failing Pods that you may not see';

/** Returns the causes of a host whose health is that Pods fail. At least one, so that no failing host is left out. */
export function causesOfHost(host: Host): string[] {
  if (hostHealth(host) !== 'failing') return [];
  const { failing } = host.status;
  return failing.length > 0 ? failing.map((pod) => failingCause(pod).id) : [UNLISTED_CAUSE];
}
