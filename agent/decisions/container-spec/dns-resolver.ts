/**
 * A Pod's resolv.conf (pkg/kubelet/network/dns/dns.go). There is no cluster DNS, so ClusterFirst uses the host's
 * resolver.
 */
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

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

/** Returns the Pod's resolver; undefined if the engine's default handling of the host's resolver is sufficient. */
export function podResolver({ dnsPolicy, dnsConfig }: PodSpec, host: Resolver): Resolver | undefined {
  if (!dnsConfig && dnsPolicy !== 'None') return undefined;
  const asked: Resolver = {
    nameservers: dnsConfig?.nameservers ?? [],
    searches: dnsConfig?.searches ?? [],
    options: (dnsConfig?.options ?? []).map(({ name = '', value }) => (value ? `${name}:${value}` : name)),
  };
  if (dnsPolicy === 'None') return asked;
  return {
    // Pods in their own network cannot reach a server on the host's loopback. The engine replaces it.
    nameservers:
      asked.nameservers.length > 0
        ? unique([...host.nameservers.filter(isReachable), ...asked.nameservers])
        : [],
    searches: unique([...host.searches, ...asked.searches]),
    options: mergeOptions(host.options, asked.options),
  };
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
