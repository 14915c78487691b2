/**
 * `metrics.k8s.io/v1beta1`: resource usage of nodes and Pods for `kubectl top`. Requested from the hosts each time and
 * not stored. Hosts that do not respond are left out, like nodes that metrics-server could not scrape.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { type ObjectMeta, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { HostUsage, ResourceUse } from '../../../shared/link/messages/link-messages.js';
import { nodeKind, podKind } from '../../kinds/index.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { requestedRef } from '../resources/object-handlers.js';
import { listOptions } from '../resources/query-options.js';
import { queryHostUsage } from './host-usage-query.js';

const GROUP = 'metrics.k8s.io';
const VERSION = 'v1beta1';
const API_VERSION = `${GROUP}/${VERSION}`;

function resource(name: string, kind: string, namespaced: boolean): DiscoveredResource {
  const described = computedResource(kind, name, ['get', 'list']);
  return { ...described, group: GROUP, version: VERSION, singular: '', namespaced };
}

export const METRICS_RESOURCES: readonly DiscoveredResource[] = [
  resource('nodes', 'NodeMetrics', false),
  resource('pods', 'PodMetrics', true),
];

/** Handles `get` and `list` of NodeMetrics and PodMetrics. Throws 404. */
export async function handleMetrics(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { resource: name, verb } = request.info;
  if (name === 'nodes') return verb === 'get' ? oneNode(deps, request) : allNodes(deps, request);
  return verb === 'get' ? onePod(deps, request) : allPods(deps, request);
}

async function oneNode(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const node = (await deps.registry.get(nodeKind, requestedRef(request))).object();
  const { name } = node.metadata;
  const usage = (await queryHostUsage(deps, [name], request.signal)).get(name);
  if (!usage) throw noMetrics('nodemetrics', name);
  return ok(nodeMetrics(node, usage));
}

async function allNodes(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { records } = await deps.registry.list(nodeKind, listOptions(request.info));
  const nodes = records.map((record) => record.object());
  const usages = await queryHostUsage(
    deps,
    nodes.map(({ metadata }) => metadata.name),
    request.signal,
  );
  const items = nodes.flatMap((node) => {
    const usage = usages.get(node.metadata.name);
    return usage ? [nodeMetrics(node, usage)] : [];
  });
  return ok({ kind: 'NodeMetricsList', apiVersion: API_VERSION, metadata: {}, items });
}

async function onePod(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const pod = (await deps.registry.get(podKind, requestedRef(request))).object();
  const [metrics] = await podMetrics(deps, [pod], request.signal);
  if (!metrics) throw noMetrics('podmetrics', `${pod.metadata.namespace}/${pod.metadata.name}`);
  return ok(metrics);
}

async function allPods(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { records } = await deps.registry.list(podKind, listOptions(request.info));
  const pods = records.map((record) => record.object());
  const items = await podMetrics(deps, pods, request.signal);
  return ok({ kind: 'PodMetricsList', apiVersion: API_VERSION, metadata: {}, items });
}

/** Sends one request per host, regardless of the number of its Pods. */
async function podMetrics(deps: ApiDeps, pods: readonly Pod[], signal: AbortSignal): Promise<object[]> {
  const nodes = new Set(pods.flatMap(({ spec }) => spec.nodeName ?? []));
  const usages = await queryHostUsage(deps, [...nodes], signal);
  return pods.flatMap((pod) => {
    const { metadata, spec } = pod;
    const hostUid = staticPodUid(pod) ?? metadata.uid;
    const used = usages.get(spec.nodeName ?? '')?.pods.find(({ uid }) => uid === hostUid);
    const { containers: main, initContainers = [], ephemeralContainers = [] } = spec;
    const own = new Set([...main, ...initContainers, ...ephemeralContainers].map(({ name }) => name));
    // A host can report any container name. Only names of the Pod's own containers are valid.
    const reported = (used?.containers ?? []).filter(({ name }) => own.has(name));
    const [first] = reported;
    if (!first) return [];
    const containers = reported.map(({ name, ...use }) => ({ name, usage: quantities(use) }));
    return [{ ...described('PodMetrics', metadata, first), containers }];
  });
}

function nodeMetrics({ metadata }: Node, { node }: HostUsage): object {
  return { ...described('NodeMetrics', metadata, node), usage: quantities(node) };
}

function described(kind: string, metadata: ObjectMeta, { timeMs, windowMs }: ResourceUse): object {
  const { name, namespace, labels } = metadata;
  const time = toTimestamp(timeMs);
  return {
    kind,
    apiVersion: API_VERSION,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      creationTimestamp: time,
      ...(labels ? { labels } : {}),
    },
    timestamp: time,
    window: `${windowMs / 1000}s`,
  };
}

function quantities({ cpuMicro, memoryBytes }: ResourceUse): { cpu: string; memory: string } {
  return { cpu: `${cpuMicro * 1000}n`, memory: `${Math.round(memoryBytes / 1024)}Ki` };
}

function noMetrics(resourceName: string, name: string): ApiError {
  return new ApiError('NotFound', `${resourceName}.${GROUP} "${name}" not found`, { name, group: GROUP });
}
