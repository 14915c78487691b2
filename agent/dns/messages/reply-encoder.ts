/**
 * Encodes replies with compressed names. `dns-packet` encodes the data of records, but repeats each name: 64 addresses
 * would not fit into a UDP message.
 */
import * as dnsPacket from 'dns-packet';
import type { DnsRecord, DnsReply, Rcode } from '../../decisions/dns/dns-reply.js';
import { type DnsQuery, HEADER_BYTES } from './dns-query.js';

/** The decoder's own codecs, which its types do not declare. */
interface RecordCodec {
  encode: { (data: unknown, into: Buffer, offset: number): Buffer; bytes: number };
}
const { record: codecOf } = dnsPacket as unknown as { record: (type: string) => RecordCodec };

/** Largest UDP message that is not fragmented on usual links (dnsflagday.net/2020). */
export const MAX_UDP_BYTES = 1232;
const MAX_UDP_BYTES_WITHOUT_EDNS = 512;
export const MAX_TCP_BYTES = 65_535;

export const RCODES: Readonly<Record<Rcode, number>> = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
};
const TYPES: Readonly<Record<DnsRecord['type'], number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DNAME: 39,
};
const RESPONSE = 0x8000;
const AUTHORITATIVE = 0x0400;
const TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
const RECURSION_AVAILABLE = 0x0080;
const OPT_BYTES = 11;
const BAD_VERSION = 1;

/** Returns the size limit of a reply over UDP, in bytes. */
export function udpLimit({ options }: DnsQuery): number {
  if (!options) return MAX_UDP_BYTES_WITHOUT_EDNS;
  return Math.min(Math.max(options.udpSize, MAX_UDP_BYTES_WITHOUT_EDNS), MAX_UDP_BYTES);
}

/** Returns a reply of a header alone, for a query that cannot be decoded. `query`: at least a header. */
export function rejection(query: Buffer, rcode: Rcode): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  query.copy(bytes, 0, 0, 2);
  const copied = query.readUInt16BE(2) & (0x7800 | RECURSION_DESIRED);
  bytes.writeUInt16BE(RESPONSE | copied | RECURSION_AVAILABLE | RCODES[rcode], 2);
  return bytes;
}

/** Returns the reply in at most `limit` bytes. Answers that do not fit are left out, and the reply says so. */
export function encodeReply(query: DnsQuery, reply: DnsReply, limit: number): Buffer {
  const writer = new RecordWriter(query, limit - (query.options ? OPT_BYTES : 0));
  const answers = writer.writeWhileTheyFit(reply.answers);
  const isTruncated = answers < reply.answers.length;
  const authorities = isTruncated ? 0 : writer.writeWhileTheyFit(reply.authorities);
  const additionals = isTruncated ? 0 : writer.writeWhileTheyFit(reply.additionals);
  const flags =
    RESPONSE |
    AUTHORITATIVE |
    (isTruncated ? TRUNCATED : 0) |
    (query.isRecursionDesired ? RECURSION_DESIRED : 0) |
    RECURSION_AVAILABLE |
    RCODES[reply.rcode];
  const counts = [1, answers, authorities, additionals + (query.options ? 1 : 0)];
  return writer.finish(query, flags, counts);
}

/** Shared by all replies: encoding never waits. Has room for the record that turns out not to fit. */
const scratch = Buffer.alloc(2 * MAX_TCP_BYTES + 512);
/** Methods of Buffer are JavaScript, which an agent runs without optimisation. */
const view = new DataView(scratch.buffer, scratch.byteOffset);

class RecordWriter {
  readonly #limit: number;
  readonly #questionName: string;
  /** Offset of each name and each ending of one, by lower-case text. */
  readonly #offsets = new Map<string, number>();
  #end: number;

  constructor({ question, questionBytes, labelOffsets }: DnsQuery, limit: number) {
    this.#limit = limit;
    this.#questionName = question.name;
    this.#end = HEADER_BYTES + questionBytes.copy(scratch, HEADER_BYTES);
    let rest = question.name.toLowerCase();
    for (const offset of labelOffsets) {
      this.#offsets.set(rest, offset);
      rest = rest.slice((scratch[offset] ?? 0) + 1);
    }
  }

  /** Returns the number of records that fit. */
  writeWhileTheyFit(records: readonly DnsRecord[]): number {
    let count = 0;
    for (const record of records) {
      if (!this.#write(record)) break;
      count++;
    }
    return count;
  }

  finish(query: DnsQuery, flags: number, counts: readonly number[]): Buffer {
    view.setUint16(0, query.id);
    view.setUint16(2, flags);
    counts.forEach((count, index) => {
      view.setUint16(4 + 2 * index, count);
    });
    if (query.options) this.#writeOptions(query.options.version > 0 ? BAD_VERSION : 0);
    return Buffer.from(scratch.subarray(0, this.#end));
  }

  #write({ name, type, ttl = 0, data }: DnsRecord): boolean {
    const start = this.#end;
    if (name === this.#questionName) this.#writePointer(HEADER_BYTES);
    else this.#writeName(name);
    const dataStart = this.#end + 8;
    const codec = codecOf(type);
    codec.encode(data, scratch, dataStart);
    if (dataStart + codec.encode.bytes > this.#limit) {
      this.#discardFrom(start);
      return false;
    }
    view.setUint16(this.#end, TYPES[type]);
    view.setUint16(this.#end + 2, 1);
    view.setUint32(this.#end + 4, ttl);
    this.#end = dataStart + codec.encode.bytes;
    return true;
  }

  #discardFrom(start: number): void {
    this.#end = start;
    for (const [name, offset] of this.#offsets) if (offset >= start) this.#offsets.delete(name);
  }

  /** Refers to the longest ending that is already in the message (RFC 1035, 4.1.4). */
  #writeName(name: string): void {
    let rest = name;
    while (rest !== '') {
      const key = rest.toLowerCase();
      const known = this.#offsets.get(key);
      if (known !== undefined) {
        this.#writePointer(known);
        return;
      }
      if (this.#end < 0x4000) this.#offsets.set(key, this.#end);
      const [label = ''] = rest.split('.', 1);
      const length = scratch.write(label, this.#end + 1, 63, 'latin1');
      scratch[this.#end] = length;
      this.#end += length + 1;
      rest = rest.slice(label.length + 1);
    }
    scratch[this.#end++] = 0;
  }

  #writePointer(offset: number): void {
    view.setUint16(this.#end, 0xc000 | offset);
    this.#end += 2;
  }

  #writeOptions(extendedRcode: number): void {
    scratch[this.#end] = 0;
    view.setUint16(this.#end + 1, 41);
    view.setUint16(this.#end + 3, MAX_UDP_BYTES);
    view.setUint32(this.#end + 5, extendedRcode << 24);
    view.setUint16(this.#end + 9, 0);
    this.#end += OPT_BYTES;
  }
}
