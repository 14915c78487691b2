/** The network address of a Pod. */
import { SANDBOX } from '../../runtime/runtime-driver.js';
import { attemptsOf } from '../containers/container-attempts.js';
import { allContainersOf } from './pod-containers.js';
import type { PodView } from './pod-view.js';

/**
 * Returns the host's address for Pods in the host network, else the address of the Pod's network holder; undefined
 * while there is none.
 */
export function podAddress(
  view: Pick<PodView, 'pod' | 'containers'>,
  hostIP: string | undefined,
): string | undefined {
  if (view.pod.spec.hostNetwork) return view.containers.length > 0 ? hostIP : undefined;
  const holders = [SANDBOX, ...allContainersOf(view.pod).map((container) => container.name)];
  const newest = holders.flatMap((name) => attemptsOf(view, name).slice(0, 1));
  return newest.find((container) => container.ip)?.ip;
}
