/** A Pod's resolv.conf (pkg/kubelet/network/dns/dns.go). */
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { CLUSTER_DOMAIN } from '../../../shared/kube/services/cluster-dns.js';
import { fitResolver } from './resolver-limits.js';

/** Content of a resolv.conf. Options are `name` or `name:value`. */
export interface Resolver {
  nameservers: string[];
  searches: string[];
  options: string[];
}

/** Parses a resolv.conf. The last `search` line counts, like in libc. */
export function parseResolvConf(text: string): Resolver {
  const resolver: Resolver = { nameservers: [], searches: [], options: [] };
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver') resolver.nameservers.push(...words.slice(0, 1));
    if (keyword === 'search' || keyword === 'domain') resolver.searches = words;
    if (keyword === 'options') resolver.options.push(...words);
  }
  return resolver;
}

/** `missing`: the host cannot serve the cluster DNS now. `off`: the operator does not want it. */
export type ClusterDnsState = { state: 'served'; address: string } | { state: 'missing' } | { state: 'off' };

/** Where Pods' resolvers come from. */
export interface ResolverSources {
  /** The host's own resolver. */
  host: Resolver;
  clusterDns: ClusterDnsState;
}

interface PodDns {
  /** Undefined if the engine's default handling of the host's resolver is sufficient. */
  resolver: Resolver | undefined;
  /** Events of type Warning for the Pod. */
  warnings: { reason: string; message: string }[];
}

const CLUSTER_OPTIONS = ['ndots:5'];

/** Returns the resolver with which the Pod's containers are created. */
export function podDns(pod: Pod, { host, clusterDns }: ResolverSources): PodDns {
  const { dnsConfig, dnsPolicy } = pod.spec;
  const wantsCluster = usesClusterDns(pod.spec);
  const missing = wantsCluster && clusterDns.state === 'missing' ? [missingClusterDns(pod)] : [];
  const isClusterServed = wantsCluster && clusterDns.state === 'served';
  if (!dnsConfig && dnsPolicy !== 'None' && !isClusterServed)
    return { resolver: undefined, warnings: missing };
  const base = isClusterServed ? clusterResolver(pod, host, clusterDns.address) : undefined;
  const { resolver, warnings } = fitResolver(mergedResolver(pod.spec, base, host));
  return { resolver, warnings: [...missing, ...warnings] };
}

/** A Pod on the host's network uses the host's resolver, unless its policy says otherwise (getPodDNSType). */
function usesClusterDns({ dnsPolicy = 'ClusterFirst', hostNetwork }: PodSpec): boolean {
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork);
}

/** One server only: musl asks all servers at once and believes the first one that does not know the name. */
function clusterResolver({ metadata }: Pod, host: Resolver, address: string): Resolver {
  const domains = [`${metadata.namespace}.svc.${CLUSTER_DOMAIN}`, `svc.${CLUSTER_DOMAIN}`, CLUSTER_DOMAIN];
  return {
    nameservers: [address],
    searches: unique([...domains, ...host.searches]),
    options: CLUSTER_OPTIONS,
  };
}

function missingClusterDns({ metadata: { name, namespace, uid } }: Pod): PodDns['warnings'][number] {
  const message =
    `pod: "${name}_${namespace}(${uid})". kubelet does not have ClusterDNS IP configured and cannot create Pod using ` +
    '"ClusterFirst" policy. Falling back to "Default" policy.';
  return { reason: 'MissingClusterDNS', message };
}

/** `base`: absent for the host's resolver. */
function mergedResolver(
  { dnsPolicy, dnsConfig }: PodSpec,
  base: Resolver | undefined,
  host: Resolver,
): Resolver {
  const asked: Resolver = {
    nameservers: dnsConfig?.nameservers ?? [],
    searches: dnsConfig?.searches ?? [],
    options: (dnsConfig?.options ?? []).map(({ name = '', value }) => (value ? `${name}:${value}` : name)),
  };
  if (dnsPolicy === 'None') return asked;
  const { nameservers, searches, options } = base ?? hostResolverFor(asked, host);
  return {
    nameservers: unique([...nameservers, ...asked.nameservers]),
    searches: unique([...searches, ...asked.searches]),
    options: mergeOptions(options, asked.options),
  };
}

/** Pods in their own network cannot reach a server on the host's loopback. The engine replaces it. */
function hostResolverFor(asked: Resolver, host: Resolver): Resolver {
  const nameservers = asked.nameservers.length > 0 ? host.nameservers.filter(isReachable) : [];
  return { ...host, nameservers };
}

function isReachable(server: string): boolean {
  return !server.startsWith('127.') && server !== '::1';
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}

/** A later option replaces an earlier one of the same name. */
function mergeOptions(host: readonly string[], asked: readonly string[]): string[] {
  const byName = new Map([...host, ...asked].map((option) => [option.split(':')[0], option]));
  return [...byName.values()];
}
