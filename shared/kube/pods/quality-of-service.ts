/** QoS class of a Pod (pkg/apis/core/v1/helper/qos). */

import { parseQuantity } from '../objects/quantity.js';
import type { Container, PodSpec } from './pod-types.js';

const RESOURCES = ['cpu', 'memory'];

function isSet(container: Container, of: 'limits' | 'requests', resource: string): boolean {
  return (parseQuantity(container.resources?.[of]?.[resource]) ?? 0) > 0;
}

function isGuaranteed(container: Container): boolean {
  return RESOURCES.every((resource) => {
    const limit = parseQuantity(container.resources?.limits?.[resource]);
    const request = parseQuantity(container.resources?.requests?.[resource]) ?? limit;
    return limit !== undefined && limit > 0 && request === limit;
  });
}

/** Returns `Guaranteed` if all CPU and memory limits equal the requests, `BestEffort` if none is set. */
export function qualityOfService(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const named = containers.some((container) =>
    RESOURCES.some(
      (resource) => isSet(container, 'limits', resource) || isSet(container, 'requests', resource),
    ),
  );
  if (!named) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}
