/** Builders of Services, of the Pods behind them, and of EndpointSlices. */
import {
  type DesiredEndpoint,
  endpointKey,
  listedEndpoint,
  serviceRulesOf,
} from '../../../coordinator/decisions/services/listed-endpoint.js';
import { sliceLabels } from '../../../coordinator/decisions/services/slice-changes.js';
import type { ConditionStatus } from '../../../shared/kube/objects/conditions.js';
import type { Pod, PodSpec, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import type { Service, ServiceSpec } from '../../../shared/kube/services/service-types.js';
import { nodeObject, podObject } from './object-builders.js';

/** The Service `foo` with the TCP port 80 of the Pods' host. */
export function serviceObject(spec: Partial<ServiceSpec> = {}, meta: object = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'foo', namespace: 'default', uid: 'uid-foo', ...meta },
    spec: { selector: { app: 'foo' }, ports: [{ port: 80 }], clusterIP: '10.96.0.1', ...spec },
  };
}

export interface PodBehind {
  ready?: ConditionStatus;
  terminating?: boolean;
  spec?: Partial<PodSpec>;
  status?: PodStatus;
  meta?: object;
}

/** A running Pod in the host network of `node-1`, as its host reports it. */
export function runningPod(name: string, options: PodBehind = {}): Pod {
  const { ready = 'True', terminating = false, spec, status, meta } = options;
  const pod = podObject(name, { nodeName: 'node-1', hostNetwork: true, ...spec });
  Object.assign(pod.metadata, { uid: `uid-${name}`, labels: { app: 'foo' }, ...meta });
  if (terminating) pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  const conditions = [{ type: 'Ready', status: ready }];
  pod.status = { phase: 'Running', conditions, hostIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], ...status };
  return pod;
}

/** A Pod on a bridge of its host, with these ports in its only container. */
export function bridgedPod(name: string, ports: object[] = [], options: PodBehind = {}): Pod {
  const containers = [{ name: 'c', image: 'i', ports }] as PodSpec['containers'];
  const status = { podIPs: [{ ip: '172.17.0.2' }], ...options.status };
  return runningPod(name, { ...options, spec: { hostNetwork: false, containers, ...options.spec }, status });
}

/** Pods `pod-FROM` to `pod-(TO-1)`; each third is not ready. */
export function manyPods(from: number, to: number): Pod[] {
  return Array.from({ length: to - from }, (_, index) =>
    runningPod(`pod-${from + index}`, { ready: (from + index) % 3 === 0 ? 'False' : 'True' }),
  );
}

export function desiredFor(service: Service, pods: readonly Pod[]): Map<string, DesiredEndpoint> {
  const rules = serviceRulesOf(service);
  const desired = new Map<string, DesiredEndpoint>();
  for (const pod of pods) {
    const listing = listedEndpoint(rules, pod, nodeObject(pod.spec.nodeName ?? ''));
    if (!listing) continue;
    const { addressType, ports, endpoint } = listing;
    desired.set(endpointKey(endpoint), { addressType, ports, endpoint });
  }
  return desired;
}

export const HTTP_PORTS: EndpointPort[] = [{ name: '', port: 80, protocol: 'TCP' }];

/** A slice of the controller with these endpoints. */
export function sliceObject(
  service: Service,
  name: string,
  endpoints: readonly Endpoint[],
  fields: Partial<EndpointSlice> = {},
): EndpointSlice {
  const { uid = '' } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-${name}`, labels: { ...sliceLabels(service) } },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name: service.metadata.name, uid, controller: true },
      ],
    },
    addressType: 'IPv4',
    endpoints: [...endpoints],
    ports: HTTP_PORTS,
    ...fields,
  };
}

/** A slice that lists these Pods as the controller would. */
export function sliceOf(service: Service, name: string, pods: readonly Pod[]): EndpointSlice {
  const desired = [...desiredFor(service, pods).values()];
  return sliceObject(
    service,
    name,
    desired.map(({ endpoint }) => endpoint),
    {
      ports: [...(desired[0]?.ports ?? HTTP_PORTS)],
    },
  );
}
