/** Computes the resource requests of a Pod (component-helpers resource.PodRequests). */

import { canonicalQuantity } from '../objects/canonical-quantity.js';
import { ownValue } from '../objects/label-syntax.js';
import { milliCpu, type Quantity, wholeUnits } from '../objects/quantity.js';
import type { Container, PodSpec, ResourceList } from './pod-types.js';

/** Amounts by resource name: `cpu` in millicores, other resources in whole units (bytes for memory). */
export type Amounts = Readonly<Record<string, number>>;

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

/** Formats an amount. `like`: a quantity whose format, decimal or binary, is used. */
export function amountText(name: string, amount: number, like: Quantity | undefined): string {
  const isCpu = name === 'cpu' || name.endsWith('.cpu');
  if (isCpu) return canonicalQuantity(`${amount}m`);
  if (!String(like ?? '').endsWith('i')) return canonicalQuantity(String(amount));
  return canonicalQuantity(amount % 1024 === 0 ? `${amount / 1024}Ki` : String(amount));
}

function combine(a: Amounts, b: Amounts, join: (x: number, y: number) => number): Amounts {
  const result: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) result[name] = join(ownValue(result, name) ?? 0, amount);
  return result;
}

export const sumAmounts = (a: Amounts, b: Amounts): Amounts => combine(a, b, (x, y) => x + y);
export const maxAmounts = (a: Amounts, b: Amounts): Amounts => combine(a, b, Math.max);

/** A restartable init container (pkg/kubelet/types IsRestartableInitContainer). */
const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

/**
 * Returns the sum of containers and sidecars, or the largest need of an init container together with the sidecars
 * started before it. Adds the overhead (component-helpers resource.PodRequests).
 */
export function podRequests(spec: PodSpec): Amounts {
  return sumAmounts(containerAmounts(spec, 'requests'), amounts(spec.overhead));
}

/** Returns the sum of requests or of limits, without the overhead. A container without a value adds nothing. */
export function containerAmounts(spec: PodSpec, of: 'requests' | 'limits'): Amounts {
  const amountsOf = (container: Container): Amounts => amounts(container.resources?.[of]);
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const together = sumAmounts(sidecars, amountsOf(container));
    if (isSidecar(container)) sidecars = together;
    starting = maxAmounts(starting, together);
  }
  const running = spec.containers.map(amountsOf).reduce(sumAmounts, sidecars);
  return maxAmounts(running, starting);
}
