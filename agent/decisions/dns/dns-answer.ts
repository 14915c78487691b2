/** Answers to questions about the cluster's zone (Kubernetes DNS specification 1.1.0; details as in CoreDNS). */
import {
  CLUSTER_DNS_ADDRESS,
  CLUSTER_DOMAIN,
  SERVICE_TTL_SECONDS,
} from '../../../shared/kube/services/cluster-dns.js';
import type { ServiceLookupResult } from '../services/host-service.js';
import { type ClusterName, NAME_SERVER } from './cluster-name.js';
import {
  type DnsAnswer,
  type DnsQuestion,
  type DnsReply,
  emptyReply,
  negative,
  positive,
  soaOf,
} from './dns-reply.js';
import { serviceAnswer } from './service-answer.js';

/** Facts of the host for one answer. */
export interface AnswerFacts {
  lookup: ServiceLookupResult;
  hasServiceProxy: boolean;
  /** True if this host knows the namespace, because a Pod or a Service of it is here. */
  isKnownNamespace: boolean;
  /** Uniform in [0, 1). */
  random: () => number;
}

const SCHEMA_VERSION = '1.1.0';

/** True if the answer depends on a Service. */
export function needsLookup(name: ClusterName): name is Extract<ClusterName, { service: string }> {
  return name.kind === 'service' || name.kind === 'port' || name.kind === 'endpoint';
}

/** Returns the answer to a question about a name of the cluster's zone. */
export function clusterAnswer(question: DnsQuestion, name: ClusterName, facts: AnswerFacts): DnsAnswer {
  if (question.type === 'AXFR' || question.type === 'IXFR') return reply(emptyReply('REFUSED'));
  if (!needsLookup(name)) return reply(zoneAnswer(question, name, facts));
  const { lookup } = facts;
  if (lookup.state === 'unknown') return reply(unknownAnswer(name, facts));
  if (lookup.state === 'absent') return reply(negative('NXDOMAIN'));
  return serviceAnswer(question, name, lookup.service, facts);
}

/**
 * With `ndots:5`, `www.example.com` is first asked for as endpoint `www.example` of a Service `com`, then as Service
 * `example` of a namespace `com`. If a host without a link answered SERVFAIL, musl would end the search there, and no
 * name outside of the cluster would resolve. So SERVFAIL, which makes clients retry, is only for names that are
 * certainly meant for the cluster: Services of a namespace of this host.
 */
function unknownAnswer(name: ClusterName, { isKnownNamespace }: AnswerFacts): DnsReply {
  if (name.kind !== 'endpoint' && isKnownNamespace) return emptyReply('SERVFAIL');
  return negative('NXDOMAIN', 0);
}

function zoneAnswer({ name: asked, type }: DnsQuestion, name: ClusterName, facts: AnswerFacts): DnsReply {
  const ttl = SERVICE_TTL_SECONDS;
  switch (name.kind) {
    case 'version':
      if (type !== 'TXT') break;
      return positive([{ type: 'TXT', name: asked, ttl, data: SCHEMA_VERSION }]);
    case 'nameServer':
      if (type !== 'A') break;
      return positive([{ type: 'A', name: asked, ttl, data: CLUSTER_DNS_ADDRESS }]);
    case 'apex':
      if (type === 'SOA') return positive([soaOf(CLUSTER_DOMAIN, ttl)]);
      if (type !== 'NS') break;
      return positive(
        [{ type: 'NS', name: asked, ttl, data: NAME_SERVER }],
        [{ type: 'A', name: NAME_SERVER, ttl, data: CLUSTER_DNS_ADDRESS }],
      );
    case 'namespace':
      // An empty answer would end the search of musl, which the search list's `svc.cluster.local` causes.
      return negative(facts.isKnownNamespace ? 'NOERROR' : 'NXDOMAIN');
    case 'missing':
      return negative('NXDOMAIN');
    default:
      break;
  }
  return negative('NOERROR');
}

function reply(of: DnsReply): DnsAnswer {
  return { kind: 'reply', reply: of };
}
