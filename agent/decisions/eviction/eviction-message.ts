/** Message of an eviction (pkg/kubelet/eviction/helpers.go evictionMessage). */

import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import { wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { ContainerUse, EvictionCandidate } from './eviction-ranking.js';
import {
  amountOf,
  type Observations,
  resourceOf,
  type StarvedResource,
  type Threshold,
} from './eviction-thresholds.js';

/** Returns the message. Of the thresholds in `due`, the first with the same resource is quoted. */
export function evictionMessage(
  { pod, containers }: EvictionCandidate,
  resource: StarvedResource,
  due: readonly Threshold[],
  observations: Observations,
): string {
  const details = pod.spec.containers.flatMap((container) => {
    const use = containers.find(({ name }) => name === container.name);
    const used = use && usedOf(use, resource);
    const request = container.resources?.requests?.[resource];
    if (used === undefined || used <= wholeUnits(request)) return [];
    const asked = request === undefined ? '0' : canonicalQuantity(request);
    return `Container ${container.name} was using ${binaryQuantity(used)}, request is ${asked}, has larger consumption of ${resource}. `;
  });
  return [
    `The node was low on resource: ${resource}. `,
    quoted(resource, due, observations),
    ...details,
  ].join('');
}

function quoted(resource: StarvedResource, due: readonly Threshold[], observations: Observations): string {
  const met = due.find(({ signal }) => resourceOf(signal) === resource && observations.has(signal));
  const observed = met && observations.get(met.signal);
  if (!observed) return '';
  const { value } = met;
  const quantity =
    value.kind === 'quantity'
      ? canonicalQuantity(value.text)
      : binaryQuantity(amountOf(value, observed.capacity));
  const isBytes = resource === 'memory' || resource === 'ephemeral-storage';
  const available = isBytes ? binaryQuantity(observed.available) : canonicalQuantity(observed.available);
  return `Threshold quantity: ${quantity}, available: ${available}. `;
}

function usedOf(use: ContainerUse, resource: StarvedResource): number | undefined {
  if (resource === 'memory') return use.memoryBytes;
  if (resource !== 'ephemeral-storage') return undefined;
  const { layerBytes, logBytes } = use;
  return layerBytes === undefined ? undefined : layerBytes + (logBytes ?? 0);
}

const SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Returns whole bytes as a quantity in Go's binary format. */
export function binaryQuantity(bytes: number): string {
  let [amount, power] = [Math.round(bytes), 0];
  while (amount !== 0 && amount % 1024 === 0 && power < SUFFIXES.length - 1) {
    amount /= 1024;
    power += 1;
  }
  return `${amount}${SUFFIXES[power]}`;
}
