/** Which encoded replies serve several equal queries. */
import type { DnsQuestion, DnsReply } from './dns-reply.js';

/**
 * `rotated`: each reply starts with another record, because clients use the first address. Only records of one size can
 * be rotated in an encoded message.
 */
export type AnswerReuse = { kind: 'none' } | { kind: 'same' } | { kind: 'rotated'; recordBytes: number };

/** Name as a pointer to the question, type, class, time to live, length. */
const RECORD_BYTES = 2 + 2 + 2 + 4 + 2;
const ADDRESS_BYTES: Readonly<Record<string, number>> = { A: 4, AAAA: 16 };

/**
 * Returns how replies to equal questions may use this one while no Service changes. Failures, and replies with a time to
 * live of 0, are for one query. So are several records that are not addresses of the name, such as SRV records.
 */
export function answerReuse(question: DnsQuestion, reply: DnsReply): AnswerReuse {
  const { rcode, answers, authorities } = reply;
  if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') return { kind: 'none' };
  if ([...answers, ...authorities].some(({ ttl }) => ttl === 0)) return { kind: 'none' };
  const [first] = answers;
  if (!first || answers.length === 1) return { kind: 'same' };
  const addressBytes = ADDRESS_BYTES[first.type];
  const isOneSize = answers.every(({ name, type }) => name === question.name && type === first.type);
  if (addressBytes === undefined || !isOneSize) return { kind: 'none' };
  return { kind: 'rotated', recordBytes: RECORD_BYTES + addressBytes };
}
