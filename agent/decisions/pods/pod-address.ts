/** The address at which a Pod is reached. */
import { SANDBOX } from '../../runtime/runtime-driver.js';
import { attemptsOf } from '../containers/container-attempts.js';
import { allContainersOf } from './pod-containers.js';
import type { PodView } from './pod-view.js';

/** The host's on the host's network, else that of whoever holds the Pod's network; undefined while there is none. */
export function podAddress(
  view: Pick<PodView, 'pod' | 'containers'>,
  hostIP: string | undefined,
): string | undefined {
  if (view.pod.spec.hostNetwork) return view.containers.length > 0 ? hostIP : undefined;
  const holders = [SANDBOX, ...allContainersOf(view.pod).map((container) => container.name)];
  const newest = holders.flatMap((name) => attemptsOf(view, name).slice(0, 1));
  return newest.find((container) => container.ip)?.ip;
}
