/** Why Pods of a workload fail, so that hosts with the same problem are one item. Pure. */
import type { FailingPod, Host } from '../../shared/kube/fleet/host-types.js';

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

/** Returns true if one of the host's failing Pods has the cause. */
export function hasCause({ status }: Host, id: string): boolean {
  return status.failing.some((pod) => failingCause(pod).id === id);
}
