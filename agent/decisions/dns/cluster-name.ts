/** Names below the cluster's zone (Kubernetes DNS specification 1.1.0). */
import { CLUSTER_DOMAIN } from '../../../shared/kube/services/cluster-dns.js';

/** `missing`: the zone cannot contain the name. `namespace`: the parent of a namespace's Services. */
export type ClusterName =
  | { kind: 'apex' }
  | { kind: 'nameServer' }
  | { kind: 'version' }
  | { kind: 'parent' }
  | { kind: 'namespace'; namespace: string }
  | { kind: 'service'; namespace: string; service: string }
  | { kind: 'port'; namespace: string; service: string; port: string; protocol: string }
  | { kind: 'endpoint'; namespace: string; service: string; hostname: string }
  | { kind: 'missing' };

/** Host part of the zone's own name server, as in CoreDNS. */
export const NAME_SERVER = `ns.dns.${CLUSTER_DOMAIN}`;

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Returns undefined for a name outside of the cluster's zone. All parts are lower case. */
export function parseClusterName(name: string): ClusterName | undefined {
  const lower = name.toLowerCase();
  if (lower === CLUSTER_DOMAIN) return { kind: 'apex' };
  if (!lower.endsWith(`.${CLUSTER_DOMAIN}`)) return undefined;
  const within = lower.slice(0, -CLUSTER_DOMAIN.length - 1);
  if (within === 'dns-version') return { kind: 'version' };
  if (within === 'dns' || within === 'svc') return { kind: 'parent' };
  if (lower === NAME_SERVER) return { kind: 'nameServer' };
  return within.endsWith('.svc') ? serviceName(within.slice(0, -4).split('.')) : { kind: 'missing' };
}

/** `labels`: those before `.svc` and the zone. */
function serviceName(labels: string[]): ClusterName {
  const namespace = labels.pop() ?? '';
  const service = labels.pop();
  if (!LABEL.test(namespace) || (service !== undefined && !LABEL.test(service))) return { kind: 'missing' };
  if (service === undefined) return { kind: 'namespace', namespace };
  const [first = '', second = ''] = labels;
  if (labels.length === 0) return { kind: 'service', namespace, service };
  if (labels.length === 2 && first.startsWith('_') && second.startsWith('_'))
    return { kind: 'port', namespace, service, port: first.slice(1), protocol: second.slice(1) };
  // A resolver with `ndots:5` first appends its search list to complete Service names. No hub needs to be asked.
  if (`.${[...labels, service, namespace].join('.')}.`.includes(`.svc.${CLUSTER_DOMAIN}.`))
    return { kind: 'missing' };
  return { kind: 'endpoint', namespace, service, hostname: labels.join('.') };
}
