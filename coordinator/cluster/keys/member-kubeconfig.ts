/** A kubeconfig with the addresses of coordinators: one context for each, all with the same user. */
import { parse, stringify } from 'yaml';

interface NamedCluster {
  name: string;
  cluster: Record<string, unknown>;
}

interface Kubeconfig {
  clusters: NamedCluster[];
  contexts: { name: string; context: { cluster: string; user: string } }[];
  users: { name: string }[];
}

/** Name of the context with the address of coordinator `number`, which begins at 1. */
export function contextName(number: number, first = 'everynode'): string {
  return number === 1 ? first : `${first}-${number}`;
}

/**
 * `text` is the kubeconfig of one coordinator. The current context stays and uses the first of `servers`; the others
 * are added as `NAME-2`, `NAME-3` and so on. Pure.
 */
export function withServers(text: string, servers: readonly string[]): string {
  const config: Partial<Kubeconfig> = parse(text);
  const [entry] = config.clusters ?? [];
  const user = config.users?.[0]?.name ?? '';
  if (!entry) return text;
  const clusters = servers.map((server, index) => ({
    name: contextName(index + 1, entry.name),
    cluster: { ...entry.cluster, server },
  }));
  const contexts = clusters.map(({ name }) => ({ name, context: { cluster: name, user } }));
  return stringify({ ...config, clusters, contexts });
}
