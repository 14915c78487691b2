/** Builders of Services, EndpointSlices and views. A test sets only the fields that matter to it. */
import { podKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Endpoint, EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import { SERVICE_NAME_LABEL } from '../../../shared/kube/services/endpoint-types.js';
import type { Service, ServiceSpec } from '../../../shared/kube/services/service-types.js';
import { podObject } from '../objects/object-builders.js';

/** A headless Service with one port and the selector `app: NAME`. */
export function serviceObject(name: string, spec: Partial<ServiceSpec> = {}, meta: object = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', ...meta },
    spec: {
      type: 'ClusterIP',
      clusterIP: 'None',
      selector: { app: name },
      ports: [{ port: 80, targetPort: 80 }],
      ...spec,
    },
  };
}

/** A slice of a Service with the port 80. */
export function sliceObject(service: string, endpoints: Endpoint[], name = `${service}-1`): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { [SERVICE_NAME_LABEL]: service } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
    endpoints,
  };
}

/** The endpoint of the Pod `SERVICE-NODE`. */
export function podEndpointOf(service: string, node: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    addresses: [addressOf(node)],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: node,
    targetRef: { kind: 'Pod', namespace: 'default', name: `${service}-${node}` },
    ...more,
  };
}

/** Stores a Pod with its status. */
export async function storePod(registry: Registry, pod: Pod): Promise<void> {
  const { name, namespace = '' } = pod.metadata;
  await registry.create(podKind, namespace, pod);
  const setStatus = (stored: Pod) => {
    stored.status = { ...stored.status, ...pod.status };
    return undefined;
  };
  await registry.modify(podKind, { namespace, name }, setStatus, { subresource: 'status' });
}

/** A Pod in the host's network of a node, with an address. */
export function servingPod(service: string, node: string, spec: object = { hostNetwork: true }): Pod {
  const pod = podObject(`${service}-${node}`, { nodeName: node, ...spec }, { labels: { app: service } });
  return { ...pod, status: { phase: 'Running', podIP: addressOf(node), hostIP: addressOf(node) } } as Pod;
}

/** An address for the node `nN`. */
function addressOf(node: string): string {
  const number = Number(node.replace(/\D/g, '')) || 0;
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}
