/** Decodes queries of Pods. */
import { decode, type OptAnswer, type Packet } from 'dns-packet';
import type { DnsQuestion, Rcode } from '../../decisions/dns/dns-reply.js';

/** EDNS(0) of a query (RFC 6891). */
interface QueryOptions {
  /** Largest UDP message that the client accepts, in bytes. */
  udpSize: number;
  version: number;
  isDnssecOk: boolean;
}

export interface DnsQuery {
  id: number;
  isRecursionDesired: boolean;
  isCheckingDisabled: boolean;
  question: DnsQuestion;
  /** The question as it was received, with type and class. Replies repeat it, with the case of its letters. */
  questionBytes: Buffer;
  /** Offsets of the labels of the question's name, in a message. */
  labelOffsets: number[];
  options?: QueryOptions;
}

/** `rejected`: the reply is a header with this code. `ignored`: no reply, because two servers could reply forever. */
type ParsedQuery =
  | { kind: 'query'; query: DnsQuery }
  | { kind: 'rejected'; rcode: Rcode }
  | { kind: 'ignored' };

export const HEADER_BYTES = 12;
const RESPONSE_BIT = 0x80;
const OPCODE_BITS = 0x78;

export function parseQuery(bytes: Buffer): ParsedQuery {
  if (bytes.length < HEADER_BYTES || (bytes.readUInt8(2) & RESPONSE_BIT) !== 0) return { kind: 'ignored' };
  if ((bytes.readUInt8(2) & OPCODE_BITS) !== 0) return { kind: 'rejected', rcode: 'NOTIMP' };
  // Checked first: the decoder allocates a list for each count in the header.
  if (bytes.readUInt16BE(4) !== 1 || bytes.readUInt16BE(6) + bytes.readUInt16BE(8) > 0)
    return { kind: 'rejected', rcode: 'FORMERR' };
  if (bytes.readUInt16BE(10) > MAX_ADDITIONALS) return { kind: 'rejected', rcode: 'FORMERR' };
  const name = readQuestionName(bytes);
  const packet = decodeOrUndefined(bytes);
  const [question] = packet?.questions ?? [];
  const options = packet?.additionals?.filter((record) => record.type === 'OPT') ?? [];
  if (!name || !question || options.length > 1) return { kind: 'rejected', rcode: 'FORMERR' };
  if (question.class !== 'IN') return { kind: 'rejected', rcode: 'REFUSED' };
  const query: DnsQuery = {
    id: bytes.readUInt16BE(0),
    isRecursionDesired: (bytes.readUInt8(2) & 1) === 1,
    isCheckingDisabled: (bytes.readUInt8(3) & 0x10) !== 0,
    question: { name: name.text, type: question.type },
    questionBytes: bytes.subarray(HEADER_BYTES, name.end + 4),
    labelOffsets: name.labelOffsets,
    ...optionsOf(options[0]),
  };
  return { kind: 'query', query };
}

/** More than any client sends: OPT and a signature. */
const MAX_ADDITIONALS = 4;

function decodeOrUndefined(bytes: Buffer): Packet | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function optionsOf(record: OptAnswer | undefined): Pick<DnsQuery, 'options'> {
  if (!record) return {};
  const { udpPayloadSize: udpSize, ednsVersion: version, flag_do: isDnssecOk } = record;
  return { options: { udpSize, version, isDnssecOk } };
}

/**
 * Returns the question's name, with a character for each byte. Undefined if it is cut off or contains a pointer. The
 * decoder has already checked its length.
 */
export function readQuestionName(
  bytes: Buffer,
): { text: string; labelOffsets: number[]; end: number } | undefined {
  const labels: string[] = [];
  const labelOffsets: number[] = [];
  let offset = HEADER_BYTES;
  for (;;) {
    const length = bytes[offset];
    if (length === undefined || length > 63) return undefined;
    if (length === 0) break;
    labelOffsets.push(offset);
    labels.push(bytes.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  const end = offset + 1;
  return end + 4 <= bytes.length ? { text: labels.join('.'), labelOffsets, end } : undefined;
}
