/** Replies of the DNS server, before they are encoded. */
import type { SoaAnswer, SrvAnswer, StringAnswer, TxtAnswer } from 'dns-packet';
import { CLUSTER_DOMAIN, SERVICE_TTL_SECONDS } from '../../../shared/kube/services/cluster-dns.js';
import { NAME_SERVER } from './cluster-name.js';

/** A type that this server creates itself. */
export type DnsRecord = StringAnswer | SrvAnswer | TxtAnswer | SoaAnswer;

export type Rcode = 'NOERROR' | 'FORMERR' | 'SERVFAIL' | 'NXDOMAIN' | 'NOTIMP' | 'REFUSED';

export interface DnsReply {
  rcode: Rcode;
  answers: DnsRecord[];
  authorities: DnsRecord[];
  additionals: DnsRecord[];
}

/** `alias`: the name is an alias, and the reply needs the records of `target`. */
export type DnsAnswer = { kind: 'reply'; reply: DnsReply } | { kind: 'alias'; target: string };

export interface DnsQuestion {
  /** As the client sent it, without the last dot. Records of the answer repeat it. */
  name: string;
  /** `A`, `SRV` …; `UNKNOWN_n` if it has no name. */
  type: string;
}

export function positive(answers: DnsRecord[], additionals: DnsRecord[] = []): DnsReply {
  return { rcode: 'NOERROR', answers, authorities: [], additionals };
}

/** Returns a reply without records, for failures. */
export function emptyReply(rcode: Rcode): DnsReply {
  return { rcode, answers: [], authorities: [], additionals: [] };
}

/** Returns a negative reply. The SOA record limits how long clients may cache it (RFC 2308). */
export function negative(
  rcode: 'NOERROR' | 'NXDOMAIN',
  ttl: number = SERVICE_TTL_SECONDS,
  zone: string = CLUSTER_DOMAIN,
): DnsReply {
  return { rcode, answers: [], authorities: [soaOf(zone, ttl)], additionals: [] };
}

export function soaOf(zone: string, ttl: number): SoaAnswer {
  const data = {
    mname: NAME_SERVER,
    rname: `hostmaster.${CLUSTER_DOMAIN}`,
    serial: 1,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: ttl,
  };
  return { type: 'SOA', name: zone, ttl, data };
}
