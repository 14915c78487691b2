/**
 * Queries to the host's resolvers, and their replies. Replies stay encoded, so that records of types which this program
 * does not know pass unchanged.
 */
import type { DnsQuery } from './dns-query.js';
import { HEADER_BYTES, readQuestionName } from './dns-query.js';
import { MAX_UDP_BYTES, RCODES } from './reply-encoder.js';

/** A reply of a resolver, and what caching it needs. */
export interface ForwardedReply {
  bytes: Buffer;
  /** Numeric code of the reply. */
  rcode: number;
  /** Offsets of the times to live. */
  ttlOffsets: number[];
  /** Seconds for which the reply may be cached; 0: not at all. */
  cacheSeconds: number;
}

const OPT_TYPE = 41;
const SOA_TYPE = 6;
const TRUNCATED_BIT = 0x02;

/** Returns the query for a resolver. Options of the client end here: a cookie, for example, is for this server alone. */
export function forwardedQuery(query: DnsQuery, id: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE((query.isRecursionDesired ? 0x0100 : 0) | (query.isCheckingDisabled ? 0x0010 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(query.options ? 1 : 0, 10);
  return Buffer.concat([header, query.questionBytes, ...optRecord(query)]);
}

/** True if the message replies to `sent`: same id, and same question apart from the case of letters. */
export function isReplyTo(bytes: Buffer, sent: Buffer): boolean {
  if (bytes.length < HEADER_BYTES || ((bytes[2] ?? 0) & 0x80) === 0) return false;
  if (bytes.readUInt16BE(0) !== sent.readUInt16BE(0) || bytes.readUInt16BE(4) !== 1) return false;
  const asked = readQuestionName(sent);
  const answered = readQuestionName(bytes);
  if (!asked || !answered || asked.end !== answered.end) return false;
  const questionOf = (message: Buffer) => foldedQuestion(message.subarray(HEADER_BYTES, asked.end + 4));
  return questionOf(sent) === questionOf(bytes);
}

/** Returns the question with small letters. The type and class keep their bytes, and so do lengths of labels. */
export function foldedQuestion(question: Buffer): string {
  const name = question.subarray(0, -4).toString('latin1');
  const folded = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return folded + question.subarray(-4).toString('latin1');
}

export function isTruncated(bytes: Buffer): boolean {
  return ((bytes[2] ?? 0) & TRUNCATED_BIT) !== 0;
}

/** Returns the reply with its times to live; undefined if it is malformed. */
export function readReply(bytes: Buffer): ForwardedReply | undefined {
  const name = readQuestionName(bytes);
  if (!name) return undefined;
  const answers = bytes.readUInt16BE(6);
  const records = answers + bytes.readUInt16BE(8) + bytes.readUInt16BE(10);
  const ttlOffsets: number[] = [];
  let seconds = Number.POSITIVE_INFINITY;
  let offset = name.end + 4;
  for (let index = 0; index < records; index++) {
    const fields = skipName(bytes, offset);
    if (fields === undefined || fields + 10 > bytes.length) return undefined;
    const type = bytes.readUInt16BE(fields);
    const end = fields + 10 + bytes.readUInt16BE(fields + 8);
    if (end > bytes.length) return undefined;
    if (type !== OPT_TYPE) {
      const ttl = bytes.readUInt32BE(fields + 4);
      ttlOffsets.push(fields + 4);
      if (index < answers) seconds = Math.min(seconds, ttl);
      // The last field of SOA limits negative replies (RFC 2308).
      else if (answers === 0 && type === SOA_TYPE) seconds = Math.min(ttl, bytes.readUInt32BE(end - 4));
    }
    offset = end;
  }
  const rcode = (bytes[3] ?? 0) & 0x0f;
  const isFinal = rcode === RCODES.NOERROR || rcode === RCODES.NXDOMAIN;
  const cacheSeconds = isFinal && Number.isFinite(seconds) && !isTruncated(bytes) ? seconds : 0;
  return { bytes, rcode, ttlOffsets, cacheSeconds };
}

/** Returns the offset behind a name that may end in a pointer; undefined if it is cut off. */
function skipName(bytes: Buffer, start: number): number | undefined {
  let offset = start;
  for (;;) {
    const length = bytes[offset];
    if (length === undefined) return undefined;
    if (length === 0) return offset + 1;
    if (length >= 0xc0) return offset + 2;
    if (length > 63) return undefined;
    offset += length + 1;
  }
}

/** Returns the reply for one client, in at most `limit` bytes, with the times to live of this moment. */
export function replyForClient(
  reply: ForwardedReply & { ageSeconds: number },
  query: DnsQuery,
  limit: number,
): Buffer {
  const { bytes, ttlOffsets, ageSeconds } = reply;
  if (bytes.length > limit) return truncatedReply(bytes, query);
  const own = Buffer.from(bytes);
  own.writeUInt16BE(query.id, 0);
  query.questionBytes.copy(own, HEADER_BYTES);
  if (ageSeconds > 0) {
    for (const offset of ttlOffsets)
      own.writeUInt32BE(Math.max(own.readUInt32BE(offset) - ageSeconds, 0), offset);
  }
  return own;
}

/** The client repeats the query by TCP. */
function truncatedReply(bytes: Buffer, query: DnsQuery): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.id, 0);
  header.writeUInt16BE(bytes.readUInt16BE(2) | (TRUNCATED_BIT << 8), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(query.options ? 1 : 0, 10);
  return Buffer.concat([header, query.questionBytes, ...optRecord(query)]);
}

function optRecord({ options }: DnsQuery): Buffer[] {
  if (!options) return [];
  const record = Buffer.alloc(11);
  record.writeUInt16BE(OPT_TYPE, 1);
  record.writeUInt16BE(MAX_UDP_BYTES, 3);
  record.writeUInt16BE(options.isDnssecOk ? 0x8000 : 0, 7);
  return [record];
}
