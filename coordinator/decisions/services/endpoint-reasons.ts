/** Explains why a Pod is or is not an endpoint of a Service. */
import {
  ENDPOINT_CODES,
  type EndpointCode,
  type EndpointExplanation,
  type EndpointSource,
  type ServiceExplanation,
} from '../../../shared/kube/fleet/service-explanation-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { countText, FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { isServing, podEndpoint } from '../../../shared/kube/services/pod-endpoint.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import type { ServiceView } from '../../../shared/kube/services/service-view.js';
import { contactOf } from '../nodes/node-contact.js';
import { podProgress } from '../reasons/pod-progress.js';
import { serviceViewOf } from './service-view-of.js';

type Rules = Omit<ServiceView, 'remote'>;
type Verdict = Pick<EndpointExplanation, 'code' | 'because'>;

/**
 * Explains a Service. `pods`: those of its namespace that its selector matches. `nodeOf` returns undefined if there is no
 * such node.
 */
export function explainService(
  service: Service,
  pods: readonly Pod[],
  nodeOf: (name: string) => Node | undefined,
): ServiceExplanation {
  const source = sourceOf(service);
  const rules = serviceViewOf(service);
  const endpoints =
    source === 'selector'
      ? pods.map((pod) => explainPod(rules, pod, nodeOf(pod.spec.nodeName ?? ''))).sort(compareExplanations)
      : [];
  const counts: ServiceExplanation['counts'] = {};
  for (const { code } of endpoints) counts[code] = (counts[code] ?? 0) + 1;
  return {
    kind: 'ServiceExplanation',
    apiVersion: `${FLEET_GROUP}/v1`,
    namespace: rules.namespace,
    name: rules.name,
    source,
    summary: summaryOf(source, rules, endpoints),
    counts,
    endpoints,
  };
}

/** Explains one Pod that the Service's selector matches. `node`: undefined if there is no such object. */
export function endpointReason(service: Service, pod: Pod, node: Node | undefined): EndpointExplanation {
  return explainPod(serviceViewOf(service), pod, node);
}

function explainPod(rules: Rules, pod: Pod, node: Node | undefined): EndpointExplanation {
  const endpoint = podEndpoint(rules, pod, rules.relayPorts);
  const named = { pod: pod.metadata.name, node: pod.spec.nodeName ?? '' };
  const isListed = endpoint && (node || rules.publishNotReadyAddresses);
  if (!endpoint || !isListed) return { ...named, ...absence(pod) };
  const { state, reach, addresses, ports } = endpoint;
  return {
    ...named,
    ...listedVerdict(rules, pod, node, endpoint),
    listed: { state, isFleetWide: reach === 'fleet', addresses, ports },
  };
}

function absence(pod: Pod): Verdict {
  const { phase, reason } = pod.status ?? {};
  if (isPodTerminal(pod)) {
    const ended = phase === 'Failed' ? `it has failed${reason ? ` (${reason})` : ''}` : 'it has succeeded';
    return { code: 'Ended', because: ended };
  }
  if (pod.status?.podIP || pod.status?.podIPs?.length)
    return { code: 'NodeNotFound', because: `there is no Node ${pod.spec.nodeName}` };
  return { code: 'NoAddress', because: `it has no address: ${podProgress(pod).because}` };
}

function listedVerdict(
  rules: Rules,
  pod: Pod,
  node: Node | undefined,
  { state, reach, ports }: NonNullable<ReturnType<typeof podEndpoint>>,
): Verdict {
  if (rules.ports.length > 0 && !ports.some((port) => port > 0)) return noSuchPort(rules);
  if (state === 'notReady') return unreadyVerdict(pod, node);
  const missing = rules.ports.filter((_, index) => !ports[index]).map(({ name, port }) => name || `${port}`);
  const lack = missing.length > 0 ? `, but without ${missing.join(', ')}` : '';
  if (state === 'terminating')
    return { code: 'Terminating', because: `it is being deleted and serves its last clients${lack}` };
  const ready = isServing(pod) ? 'it is ready' : 'unready Pods are published';
  if (reach === 'fleet') return { code: 'Ready', because: `${ready}${lack}` };
  const because =
    rules.traffic.internal === 'Local'
      ? `${ready}, and internalTrafficPolicy is Local`
      : `${ready}, but has no port on its host: use hostPort or hostNetwork`;
  return { code: 'ReadyOnOwnHost', because: `${because}${lack}` };
}

function noSuchPort({ ports }: Rules): Verdict {
  const targets = ports.map(({ targetPort, protocol }) => `${targetPort}/${protocol}`);
  return { code: 'NoSuchPort', because: `no container has the port ${targets.join(' or ')}` };
}

function unreadyVerdict(pod: Pod, node: Node | undefined): Verdict {
  const isLost = node !== undefined && contactOf(node) === 'lost';
  if (isLost)
    return {
      code: 'NodeOffline',
      because: `its node ${node.metadata.name} is offline, so its state is unknown`,
    };
  if (pod.metadata.deletionTimestamp) return { code: 'NotReady', because: 'it is being deleted' };
  return { code: 'NotReady', because: podProgress(pod).because };
}

function sourceOf({ spec = {} }: Service): EndpointSource {
  if (spec.type === 'ExternalName') return 'externalName';
  return Object.keys(spec.selector ?? {}).length > 0 ? 'selector' : 'manual';
}

function summaryOf(source: EndpointSource, rules: Rules, endpoints: readonly EndpointExplanation[]): string {
  if (source === 'externalName') return 'It is a DNS alias and has no endpoints.';
  if (source === 'manual') return 'It has no selector, so its endpoints are written by users.';
  if (endpoints.length === 0) return 'Its selector matches no Pod.';
  const count = (code: EndpointCode) => endpoints.filter((each) => each.code === code).length;
  const own = count('ReadyOnOwnHost');
  const ready = count('Ready') + own;
  const verb = endpoints.length === 1 ? 'is' : 'are';
  const all = `${ready} of ${countText(endpoints.length, 'Pod')} ${verb} ready`;
  if (own === 0 || rules.traffic.internal === 'Local') return `${all}.`;
  return `${all}. ${unreachableText(own)}.`;
}

/** The sentence about Pods that other hosts cannot reach, also the message of the Event `EndpointsUnreachable`. */
export function unreachableText(count: number): string {
  return `${countText(count, 'Pod')} ${count === 1 ? 'has no port on its host' : 'have no port on their hosts'}; use hostPort or hostNetwork`;
}

function compareExplanations(one: EndpointExplanation, other: EndpointExplanation): number {
  const order = ENDPOINT_CODES.indexOf(one.code) - ENDPOINT_CODES.indexOf(other.code);
  return order || compareText(one.node, other.node) || compareText(one.pod, other.pod);
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
