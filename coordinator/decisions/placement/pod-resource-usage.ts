/** Computes the resource usage of Pods: requests, host ports and Pod count. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { milliCpu, wholeUnits } from '../../../shared/kube/objects/quantity.js';
import { type HostPort, hostPorts } from '../../../shared/kube/pods/host-ports.js';
import type { Container, PodSpec, ResourceList } from '../../../shared/kube/pods/pod-types.js';

/** Amounts by resource name: `cpu` in millicores, other resources in whole units (bytes for memory). */
type Amounts = Readonly<Record<string, number>>;

export interface ResourceUsage {
  requests: Amounts;
  ports: readonly HostPort[];
  pods: number;
}

/** Parsed resource lists. Informers and templates share the lists, so each is parsed once. */
const known = new WeakMap<ResourceList, Amounts>();

/** Returns a resource list in the scheduler's units. */
export function amounts(list: ResourceList = NOTHING): Amounts {
  const present = known.get(list);
  if (present) return present;
  const read = Object.entries(list).map(([name, quantity]) => [
    name,
    name === 'cpu' ? milliCpu(quantity) : wholeUnits(quantity),
  ]);
  const result: Amounts = Object.fromEntries(read);
  known.set(list, result);
  return result;
}

const NOTHING: ResourceList = {};

function combine(a: Amounts, b: Amounts, join: (x: number, y: number) => number): Amounts {
  const result: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) result[name] = join(ownValue(result, name) ?? 0, amount);
  return result;
}

const sum = (a: Amounts, b: Amounts): Amounts => combine(a, b, (x, y) => x + y);
const max = (a: Amounts, b: Amounts): Amounts => combine(a, b, Math.max);

const requestsOf = (container: Container): Amounts => amounts(container.resources?.requests);

/** A restartable init container (pkg/kubelet/types IsRestartableInitContainer). */
const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

/**
 * Returns the sum of containers and sidecars, or the largest need of an init container together with the sidecars
 * started before it. Adds the overhead (component-helpers resource.PodRequests).
 */
export function podRequests(spec: PodSpec): Amounts {
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const together = sum(sidecars, requestsOf(container));
    if (isSidecar(container)) sidecars = together;
    starting = max(starting, together);
  }
  const running = spec.containers.map(requestsOf).reduce(sum, sidecars);
  return sum(max(running, starting), amounts(spec.overhead));
}

/** A Pod, and its handover successor on the same host. */
export interface UsageSource {
  spec: PodSpec;
  next?: PodSpec | undefined;
}

const UNUSED: ResourceUsage = { requests: {}, ports: [], pods: 0 };

/** Returns the total usage, with the larger one of each Pod and its handover successor. */
export function usageOfPods(pods: Iterable<UsageSource>): ResourceUsage {
  let total = UNUSED;
  for (const pod of pods) total = plusPod(total, pod);
  return total;
}

/** Returns the usage with one more Pod. */
export function plusPod(
  { requests, ports, pods }: ResourceUsage,
  { spec, next }: UsageSource,
): ResourceUsage {
  const own = podRequests(spec);
  const added = [...hostPorts(spec), ...(next ? hostPorts(next) : [])];
  return {
    requests: sum(requests, next ? max(own, podRequests(next)) : own),
    ports: added.length > 0 ? [...ports, ...added] : ports,
    pods: pods + 1,
  };
}
