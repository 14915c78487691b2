/**
 * An update of a Service: fields that the client may omit, and fields that no longer apply to the new type
 * (pkg/registry/core/service/storage patchAllocatedValues and normalizeClusterIPs, strategy.go dropTypeDependentFields).
 */
import { RELAY_PORTS_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import {
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
  type Service,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import type { WriteContext } from '../kind.js';
import { keepServerAnnotation } from '../validation/object-meta-validation.js';
import { dropUnset, isExternallyAccessible, sameTexts, setIpFamilies } from './service-defaults.js';

export function prepareServiceForUpdate(next: Service, current: Service, context: WriteContext): void {
  keepServerAnnotation(RELAY_PORTS_ANNOTATION, next, current, context);
  next.status = current.status ?? {};
  next.spec ??= {};
  const { spec } = next;
  const old = current.spec ?? {};
  keepAllocatedValues(spec, old);
  pairClusterIPs(spec, old);
  setIpFamilies(spec, old);
  dropOtherTypesFields(spec, old);
  dropUnset(spec);
  if (spec.type !== 'LoadBalancer') next.status = { ...next.status, loadBalancer: {} };
}

/** A client that replaces a Service from its manifest does not know what was allocated. */
function keepAllocatedValues(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIP(old) && needsClusterIP(spec)) {
    spec.clusterIP ||= old.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === old.clusterIP)
      spec.clusterIPs = [...(old.clusterIPs ?? [])];
  }
  if (needsNodePort(old) && needsNodePort(spec)) keepNodePorts(spec, old);
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec))
    spec.healthCheckNodePort ||= old.healthCheckNodePort;
}

/** Ports are recognised by their names. A node port that the client gave to another port is not given twice. */
function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const requested = new Set(nodePortsOf(spec));
  const byName = new Map((old.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const allocated = byName.get(port.name ?? '');
    if (!port.nodePort && allocated && !requested.has(allocated)) port.nodePort = allocated;
  }
}

function nodePortsOf({ ports = [] }: ServiceSpec): number[] {
  return ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));
}

/** Clients may change `clusterIP` alone; `clusterIPs` follows unless the client changed it as well. */
function pairClusterIPs(spec: ServiceSpec, old: ServiceSpec): void {
  if ((spec.clusterIPs ?? []).length === 0 && (spec.clusterIP ?? '') === (old.clusterIP ?? ''))
    spec.clusterIPs = [...(old.clusterIPs ?? [])];
  if ((spec.clusterIP ?? '') === (old.clusterIP ?? '') || !sameTexts(spec.clusterIPs, old.clusterIPs)) return;
  spec.clusterIPs = spec.clusterIP ? [spec.clusterIP] : [];
}

/**
 * Removes values that this program may have set and that the new type does not have. A value that the client changed in
 * the same write stays, and validation refuses it.
 */
function dropOtherTypesFields(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIP(old) && !needsClusterIP(spec)) dropAddresses(spec, old);
  const known = new Set(nodePortsOf(old));
  if (needsNodePort(old) && !needsNodePort(spec) && nodePortsOf(spec).every((port) => known.has(port)))
    for (const port of spec.ports ?? []) delete port.nodePort;
  if (needsHealthCheckNodePort(old) && !needsHealthCheckNodePort(spec))
    dropUnchanged('healthCheckNodePort', spec, old);
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec))
    dropUnchanged('externalTrafficPolicy', spec, old);
  if (old.type !== 'LoadBalancer' || spec.type === 'LoadBalancer') return;
  dropUnchanged('allocateLoadBalancerNodePorts', spec, old);
  dropUnchanged('loadBalancerClass', spec, old);
}

function dropAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.clusterIP === old.clusterIP && sameTexts(spec.clusterIPs, old.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameTexts(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
  dropUnchanged('ipFamilyPolicy', spec, old);
}

function dropUnchanged(field: keyof ServiceSpec, spec: ServiceSpec, old: ServiceSpec): void {
  if (spec[field] === old[field]) delete spec[field];
}
