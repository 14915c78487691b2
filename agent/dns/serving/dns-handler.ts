/** Answers encoded queries: those about the cluster's zone itself, all others by the host's resolvers. */
import { decode, encode } from 'dns-packet';
import { endpointViewName } from '../../../shared/kube/services/service-view.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { answerReuse } from '../../decisions/dns/answer-reuse.js';
import { type ClusterName, parseClusterName } from '../../decisions/dns/cluster-name.js';
import { clusterAnswer, needsLookup } from '../../decisions/dns/dns-answer.js';
import {
  type DnsQuestion,
  type DnsRecord,
  type DnsReply,
  emptyReply,
} from '../../decisions/dns/dns-reply.js';
import { reverseAnswer } from '../../decisions/dns/reverse-answer.js';
import { aliasRecord } from '../../decisions/dns/service-answer.js';
import type { ServiceLookup, ServiceLookupResult } from '../../decisions/services/host-service.js';
import { mayLackEndpoint, withEndpoints } from '../../decisions/services/single-endpoint.js';
import type { Forwarder } from '../forwarding/forwarder.js';
import { type DnsQuery, HEADER_BYTES, parseQuery } from '../messages/dns-query.js';
import { replyForClient } from '../messages/forwarded-message.js';
import { encodeReply, MAX_TCP_BYTES, RCODES, rejection, udpLimit } from '../messages/reply-encoder.js';
import { AnswerCache } from './answer-cache.js';

interface DnsHandlerDeps {
  services: ServiceLookup;
  /** True if a Pod of this host is in the namespace. */
  hasNamespace: (namespace: string) => boolean;
  forwarder: Pick<Forwarder, 'forward'>;
  clock: Clock;
  random: () => number;
}

type Transport = 'udp' | 'tcp';

/** As in CoreDNS. An ExternalName may refer to a Service whose ExternalName refers back. */
const MAX_ALIASES = 10;

export class DnsHandler {
  readonly #deps: DnsHandlerDeps;
  readonly #cache: AnswerCache;

  constructor(deps: DnsHandlerDeps) {
    this.#deps = deps;
    this.#cache = new AnswerCache(deps.clock, deps.random);
  }

  /** Returns the reply to a query over UDP if an equal query was answered a moment ago. */
  cachedReply(message: Buffer): Buffer | undefined {
    return this.#cache.find(message, this.#deps.services.revision);
  }

  /** Resolves with the reply; undefined if the message deserves none. */
  async handle(message: Buffer, transport: Transport): Promise<Buffer | undefined> {
    const parsed = parseQuery(message);
    if (parsed.kind === 'ignored') return undefined;
    if (parsed.kind === 'rejected') return rejection(message, parsed.rcode);
    const { query } = parsed;
    const limit = transport === 'tcp' ? MAX_TCP_BYTES : udpLimit(query);
    if (query.options && query.options.version > 0) return encodeReply(query, emptyReply('NOERROR'), limit);
    const { revision } = this.#deps.services;
    const own = await this.#ownReply(query.question, 0);
    if (own) {
      const reply = encodeReply(query, own, limit);
      const answersOffset = HEADER_BYTES + query.questionBytes.length;
      const reuse = transport === 'udp' ? answerReuse(query.question, own) : ({ kind: 'none' } as const);
      this.#cache.put(message, { reply, answersOffset, reuse, revision });
      return reply;
    }
    const reply = await this.#deps.forwarder.forward(query);
    return reply ? replyForClient(reply, query, limit) : encodeReply(query, emptyReply('SERVFAIL'), limit);
  }

  /** Resolves with undefined if the host's resolvers have to answer. */
  async #ownReply(question: DnsQuestion, aliases: number): Promise<DnsReply | undefined> {
    const { services, random } = this.#deps;
    const name = parseClusterName(question.name);
    if (!name) {
      const isReverse = question.name.toLowerCase().endsWith('.arpa');
      return isReverse ? reverseAnswer(question, [...services.all()]) : undefined;
    }
    const lookup: ServiceLookupResult = needsLookup(name) ? await this.#lookUp(name) : { state: 'absent' };
    const answer = clusterAnswer(question, name, {
      lookup,
      hasServiceProxy: services.hasServiceProxy,
      isKnownNamespace: this.#isKnownNamespace(name, lookup),
      random,
    });
    return answer.kind === 'reply' ? answer.reply : this.#aliasReply(question, answer.target, aliases + 1);
  }

  /** Resolves with the Service. An endpoint that its view may lack is looked up alone and added. */
  async #lookUp(name: Extract<ClusterName, { service: string }>): Promise<ServiceLookupResult> {
    const { services } = this.#deps;
    const found = await services.resolve(name.namespace, name.service);
    if (name.kind !== 'endpoint' || found.state !== 'known') return found;
    const { service } = found;
    if (!mayLackEndpoint(service, name.hostname)) return found;
    const single = await services.resolve(name.namespace, endpointViewName(name.service, name.hostname));
    return single.state === 'known'
      ? { state: 'known', service: withEndpoints(service, single.service.view.remote) }
      : single;
  }

  #isKnownNamespace(name: ClusterName, lookup: ServiceLookupResult): boolean {
    if (!('namespace' in name) || lookup.state === 'known') return false;
    const { services, hasNamespace } = this.#deps;
    if (hasNamespace(name.namespace)) return true;
    for (const { view } of services.all()) if (view.namespace === name.namespace) return true;
    return false;
  }

  /** Resolves with the alias and the records of its target, which the client would otherwise have to ask for. */
  async #aliasReply({ name, type }: DnsQuestion, target: string, aliases: number): Promise<DnsReply> {
    if (aliases > MAX_ALIASES) return emptyReply('SERVFAIL');
    const question = { name: target, type };
    const reply = (await this.#ownReply(question, aliases)) ?? (await this.#outsideReply(question));
    if (reply.rcode !== 'NOERROR' && reply.rcode !== 'NXDOMAIN') return emptyReply('SERVFAIL');
    return { ...reply, answers: [aliasRecord(name, target), ...reply.answers] };
  }

  async #outsideReply(question: DnsQuestion): Promise<DnsReply> {
    const query = queryFor(question);
    const reply = query && (await this.#deps.forwarder.forward(query));
    if (!query || !reply) return emptyReply('SERVFAIL');
    const rcode =
      reply.rcode === RCODES.NOERROR ? 'NOERROR' : reply.rcode === RCODES.NXDOMAIN ? 'NXDOMAIN' : 'SERVFAIL';
    try {
      const { answers = [] } = decode(replyForClient(reply, query, MAX_TCP_BYTES));
      const records = answers.filter((record) => ALIASED_TYPES.has(record.type)) as DnsRecord[];
      return { ...emptyReply(rcode), answers: records };
    } catch {
      return emptyReply('SERVFAIL');
    }
  }
}

/** Types that are encoded again behind an alias. */
const ALIASED_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'TXT', 'NS', 'PTR']);
const RECURSION_DESIRED_FLAG = 0x0100;

function queryFor({ name, type }: DnsQuestion): DnsQuery | undefined {
  const question = { name, type: type as 'A' };
  const parsed = parseQuery(encode({ flags: RECURSION_DESIRED_FLAG, questions: [question] }));
  return parsed.kind === 'query' ? parsed.query : undefined;
}
