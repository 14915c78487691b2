/** A Pod's resolv.conf (pkg/kubelet/network/dns/dns.go). There is no cluster DNS: ClusterFirst falls back to the host's. */
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

/** What a resolv.conf says. Options as `name` or `name:value`. */
export interface Resolver {
  nameservers: string[];
  searches: string[];
  options: string[];
}

/** Reads a resolv.conf; of `search` lines the last one counts, as in libc. */
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

/** What the Pod asks for over the host's own; undefined: the engine's way of handing the host's on will do. */
export function podResolver({ dnsPolicy, dnsConfig }: PodSpec, host: Resolver): Resolver | undefined {
  if (!dnsConfig && dnsPolicy !== 'None') return undefined;
  const asked: Resolver = {
    nameservers: dnsConfig?.nameservers ?? [],
    searches: dnsConfig?.searches ?? [],
    options: (dnsConfig?.options ?? []).map(({ name = '', value }) => (value ? `${name}:${value}` : name)),
  };
  if (dnsPolicy === 'None') return asked;
  return {
    // A server on the host's own loopback cannot be reached from a network of the Pod's own; the engine knows a way.
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

/** A later option takes the place of an earlier one of its name. */
function mergeOptions(host: readonly string[], asked: readonly string[]): string[] {
  const byName = new Map([...host, ...asked].map((option) => [option.split(':')[0], option]));
  return [...byName.values()];
}
