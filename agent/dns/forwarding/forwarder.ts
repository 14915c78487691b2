/** Forwards queries about names outside of the cluster to the host's resolvers. */
import { randomInt } from 'node:crypto';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { DnsQuery } from '../messages/dns-query.js';
import {
  type ForwardedReply,
  foldedQuestion,
  forwardedQuery,
  readReply,
} from '../messages/forwarded-message.js';
import { RCODES } from '../messages/reply-encoder.js';
import type { Nameserver, NameserverSource } from './host-nameservers.js';
import { exchange } from './nameserver-exchange.js';
import { ReplyCache } from './reply-cache.js';

interface ForwarderDeps {
  nameservers: NameserverSource;
  clock: Clock;
  log: Logger;
}

/** Limits the sockets of a host whose resolvers do not reply. */
const MAX_EXCHANGES = 256;
const TRY_TIMEOUT_MS = 1_500;
/** Clients repeat their query after 5 s (resolv.conf(5)). */
const DEADLINE_MS = 4_500;
const ROUNDS = 2;

type AgedReply = ForwardedReply & { ageSeconds: number };

export class Forwarder {
  readonly #deps: ForwarderDeps;
  readonly #cache: ReplyCache;
  /** Equal queries share an exchange. This also ends a loop, if a resolver of the host forwards to this server. */
  readonly #pending = new Map<string, Promise<AgedReply | undefined>>();
  #servers: readonly Nameserver[] = [];
  /** Index of the server that replied last. */
  #preferred = 0;

  constructor(deps: ForwarderDeps) {
    this.#deps = deps;
    this.#cache = new ReplyCache(deps.clock);
  }

  get cachedReplies(): number {
    return this.#cache.size;
  }

  /** Resolves with the reply; undefined if no resolver has replied. */
  forward(query: DnsQuery): Promise<AgedReply | undefined> {
    const servers = this.#currentServers();
    const key = cacheKey(query);
    const cached = this.#cache.find(key);
    if (cached) return Promise.resolve(cached);
    const pending = this.#pending.get(key);
    if (pending) return pending;
    if (this.#pending.size >= MAX_EXCHANGES) return Promise.resolve(undefined);
    const reply = this.#ask(query, servers)
      .then((found) => {
        if (found) this.#cache.put(key, found);
        return found && { ...found, ageSeconds: 0 };
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, reply);
    return reply;
  }

  #currentServers(): readonly Nameserver[] {
    const servers = this.#deps.nameservers.current();
    if (servers !== this.#servers) {
      // Another network may give the same names other addresses.
      this.#cache.clear();
      this.#servers = servers;
      this.#preferred = 0;
    }
    return servers;
  }

  async #ask(query: DnsQuery, servers: readonly Nameserver[]): Promise<ForwardedReply | undefined> {
    const { clock, log } = this.#deps;
    const deadline = clock.monotonic() + DEADLINE_MS;
    const first = this.#preferred;
    let failure: ForwardedReply | undefined;
    for (let attempt = 0; attempt < ROUNDS * servers.length; attempt++) {
      const index = (first + attempt) % servers.length;
      const server = servers[index] as Nameserver;
      const timeoutMs = Math.min(TRY_TIMEOUT_MS, deadline - clock.monotonic());
      if (timeoutMs <= 0) break;
      try {
        const message = forwardedQuery(query, randomInt(0x1_0000));
        const reply = readReply(await exchange({ server, message, timeoutMs, clock }));
        if (reply && isAnswer(reply)) {
          if (servers === this.#servers) this.#preferred = index;
          return reply;
        }
        failure = reply ?? failure;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        log.debug({ server: server.address, why }, 'a resolver of the host did not reply');
      }
    }
    return failure;
  }
}

/** Other codes may be a problem of this one resolver. */
function isAnswer({ rcode }: ForwardedReply): boolean {
  return rcode === RCODES.NOERROR || rcode === RCODES.NXDOMAIN;
}

/**
 * The question is compared as it is encoded. Its text is ambiguous, because a label may contain a dot: with the text as
 * the key, a Pod that asks for the one label "example.com" would make example.com unknown to all Pods.
 */
function cacheKey({ questionBytes, options, isRecursionDesired, isCheckingDisabled }: DnsQuery): string {
  const edns = options ? (options.isDnssecOk ? 'd' : 'e') : '-';
  return `${foldedQuestion(questionBytes)} ${edns}${isRecursionDesired}${isCheckingDisabled}`;
}
