/** The namespaces that a container owns, shares or takes from the host, and its host names. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { CLUSTER_DOMAIN } from '../../../shared/kube/services/cluster-dns.js';
import type { ContainerConfig, NetworkMode } from '../../runtime/runtime-driver.js';
import { podDns, type ResolverSources } from './dns-resolver.js';

type Namespaces = Pick<
  ContainerConfig,
  'network' | 'ipc' | 'pid' | 'hostname' | 'domainname' | 'extraHosts' | 'resolver'
>;

const MAX_HOSTNAME = 63;
/** Limit of the kernel. */
const MAX_FULL_HOSTNAME = 64;

/**
 * `sandboxID`: the container to join; absent for the sandbox itself and for Pods without one. `targetID`: the container
 * whose process namespace is shared, unless the Pod shares one or uses the host's (pkg/kubelet/kuberuntime
 * NamespacesForPod).
 */
export function namespacesOf(
  pod: Pod,
  sandboxID: string | undefined,
  resolvers: ResolverSources,
  targetID?: string,
): Namespaces {
  const { hostNetwork, hostIPC, hostPID, shareProcessNamespace } = pod.spec;
  const joined = sandboxID === undefined ? undefined : ({ kind: 'container', id: sandboxID } as const);
  const target: Namespaces['pid'] =
    targetID === undefined ? { kind: 'private' } : { kind: 'container', id: targetID };
  const network: NetworkMode = hostNetwork ? { kind: 'host' } : (joined ?? { kind: 'bridge' });
  return {
    network,
    ipc: hostIPC ? { kind: 'host' } : (joined ?? { kind: 'shareable' }),
    pid: hostPID ? { kind: 'host' } : shareProcessNamespace && joined ? joined : target,
    // Host names belong to the holder of the network namespace; engines refuse them on containers that join it.
    ...(network.kind === 'container' ? {} : { ...extraHostsOf(pod), ...resolverOf(pod, resolvers) }),
    ...(network.kind === 'bridge' ? hostnameOf(pod) : {}),
  };
}

/** Returns why the Pod's host name is invalid; undefined if it is valid (pkg/kubelet/util.go GetNodenameForKernel). */
export function hostnameRefusal(pod: Pod): string | undefined {
  const full = fullHostname(pod);
  if (!pod.spec.setHostnameAsFQDN || pod.spec.hostNetwork || full.length <= MAX_FULL_HOSTNAME)
    return undefined;
  const limit = `${MAX_FULL_HOSTNAME} characters is the max, ${full.length} characters requested`;
  return `Failed to construct FQDN from Pod hostname and cluster domain, FQDN ${full} is too long (${limit})`;
}

/** pkg/kubelet/kubelet_pods.go GeneratePodHostNameAndDomain */
function hostnameOf(pod: Pod): Pick<Namespaces, 'hostname' | 'domainname'> {
  if (pod.spec.setHostnameAsFQDN) return { hostname: fullHostname(pod) };
  const domainname = domainOf(pod);
  return { hostname: shortHostname(pod), ...(domainname ? { domainname } : {}) };
}

function shortHostname(pod: Pod): string {
  return (pod.spec.hostname ?? pod.metadata.name).slice(0, MAX_HOSTNAME).replace(/[-.]+$/, '');
}

function domainOf({ spec, metadata }: Pod): string {
  return spec.subdomain ? `${spec.subdomain}.${metadata.namespace}.svc.${CLUSTER_DOMAIN}` : '';
}

function fullHostname(pod: Pod): string {
  const domain = domainOf(pod);
  return domain ? `${shortHostname(pod)}.${domain}` : shortHostname(pod);
}

function extraHostsOf(pod: Pod): Pick<Namespaces, 'extraHosts'> {
  const aliases = pod.spec.hostAliases ?? [];
  const extraHosts = aliases.flatMap(({ ip, hostnames }) => (hostnames ?? []).map((name) => `${name}:${ip}`));
  return extraHosts.length > 0 ? { extraHosts } : {};
}

function resolverOf(pod: Pod, resolvers: ResolverSources): Pick<Namespaces, 'resolver'> {
  const { resolver } = podDns(pod, resolvers);
  return resolver ? { resolver } : {};
}
