/**
 * The header that a follower sends to the leader before the bytes of a client. It is a PROXY protocol header, version 2
 * (haproxy, doc/proxy-protocol.txt, 2.2), whose last TLV is ours: which process forwards, the number of the connection,
 * the term of the leader, and an HMAC of everything before it.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2, command PROXY. */
const VERSION_AND_COMMAND = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
const LENGTH_OFFSET = 14;
/** Signature, version, family and length. */
const FIXED_BYTES = 16;
const PORT_BYTES = 2;
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/** The first type for applications (PP2_TYPE_MIN_CUSTOM). */
const PROOF_TYPE = 0xe0;
const TLV_HEAD_BYTES = 3;
export const DOOR_ID_BYTES = 8;
const NUMBER_BYTES = 8;
const MAC_BYTES = 32;
const PROOF_BYTES = DOOR_ID_BYTES + 2 * NUMBER_BYTES + MAC_BYTES;
const PROOF_TLV_BYTES = TLV_HEAD_BYTES + PROOF_BYTES;
/** Ours have 87 or 111 bytes; the rest is for TLVs of a newer coordinator. */
export const MAX_PROXY_HEADER_BYTES = 512;

const MAPPED = /^::ffff:(?=\d+\.)/i;

/** One end of a TCP connection. The address may be an IPv4 address that is mapped into IPv6. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface ForwardedConnection {
  readonly client: Endpoint;
  /** The address that the client connected to. */
  readonly server: Endpoint;
  /** Random name of the process that forwards, 16 hex digits. */
  readonly doorId: string;
  /** Number of the connection, from 1 on. */
  readonly sequence: number;
  /** Term of the leader that the connection is for. */
  readonly term: number;
}

/** Derives a key for headers, so that a MAC of another purpose is never a valid MAC of a header. */
export function headerKey(fleetKey: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', fleetKey, '', 'everynode forwarded connection', MAC_BYTES));
}

/** Returns the signed header. Throws `RangeError` if an address is not an IP address. */
export function encodeProxyHeader(connection: ForwardedConnection, key: Uint8Array): Buffer {
  const { client, server, doorId, sequence, term } = connection;
  const [from, to] = [client.address, server.address].map((text) => text.replace(MAPPED, ''));
  const isIpv4 = isIPv4(from ?? '') && isIPv4(to ?? '');
  const bytesOf = isIpv4 ? ipv4Bytes : ipv6Bytes;
  const addresses = Buffer.concat([
    bytesOf(from ?? ''),
    bytesOf(to ?? ''),
    uint16(client.port),
    uint16(server.port),
  ]);
  const signed = Buffer.concat([
    SIGNATURE,
    Buffer.of(VERSION_AND_COMMAND, isIpv4 ? TCP_OVER_IPV4 : TCP_OVER_IPV6),
    uint16(addresses.length + PROOF_TLV_BYTES),
    addresses,
    Buffer.of(PROOF_TYPE),
    uint16(PROOF_BYTES),
    Buffer.from(doorId, 'hex'),
    uint64(sequence),
    uint64(term),
  ]);
  return Buffer.concat([signed, macOf(signed, key)]);
}

/**
 * Returns the length of the header that the bytes begin with, or undefined if they begin with none. While the bytes are
 * too few, and for a header that is too long, returns 16: such a header is malformed.
 */
export function proxyHeaderLength(bytes: Buffer): number | undefined {
  const known = Math.min(bytes.length, SIGNATURE.length);
  if (bytes.compare(SIGNATURE, 0, known, 0, known) !== 0) return undefined;
  if (bytes.length < FIXED_BYTES) return FIXED_BYTES;
  const length = FIXED_BYTES + bytes.readUInt16BE(LENGTH_OFFSET);
  return length <= MAX_PROXY_HEADER_BYTES ? length : FIXED_BYTES;
}

/**
 * Returns the content of a whole header, or undefined if the header is malformed or not signed with the key. TLVs before
 * ours are ignored: a newer coordinator may send them.
 */
export function decodeProxyHeader(header: Buffer, key: Uint8Array): ForwardedConnection | undefined {
  const macAt = header.length - MAC_BYTES;
  const proofAt = header.length - PROOF_TLV_BYTES;
  if (proxyHeaderLength(header) !== header.length) return undefined;
  const addressBytes = addressLength(header);
  if (addressBytes === undefined || proofAt < FIXED_BYTES + 2 * (addressBytes + PORT_BYTES)) return undefined;
  if (header[proofAt] !== PROOF_TYPE || header.readUInt16BE(proofAt + 1) !== PROOF_BYTES) return undefined;
  if (!timingSafeEqual(macOf(header.subarray(0, macAt), key), header.subarray(macAt))) return undefined;
  const numbersAt = proofAt + TLV_HEAD_BYTES + DOOR_ID_BYTES;
  const portsAt = FIXED_BYTES + 2 * addressBytes;
  const endpoint = (index: number): Endpoint => ({
    address: addressText(header.subarray(FIXED_BYTES + index * addressBytes).subarray(0, addressBytes)),
    port: header.readUInt16BE(portsAt + index * PORT_BYTES),
  });
  return {
    client: endpoint(0),
    server: endpoint(1),
    doorId: header.toString('hex', proofAt + TLV_HEAD_BYTES, numbersAt),
    sequence: Number(header.readBigUInt64BE(numbersAt)),
    term: Number(header.readBigUInt64BE(numbersAt + NUMBER_BYTES)),
  };
}

function addressLength(header: Buffer): number | undefined {
  if (header[SIGNATURE.length] !== VERSION_AND_COMMAND) return undefined;
  switch (header[SIGNATURE.length + 1]) {
    case TCP_OVER_IPV4:
      return IPV4_BYTES;
    case TCP_OVER_IPV6:
      return IPV6_BYTES;
    default:
      return undefined;
  }
}

function macOf(signed: Buffer, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(PORT_BYTES);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** Accepts IPv4 addresses too, and maps them. A zone such as `%eth0` is dropped. */
function ipv6Bytes(text: string): Buffer {
  const address = isIPv4(text) ? `::ffff:${text}` : (text.split('%', 1)[0] ?? '');
  if (!isIPv6(address)) throw new RangeError(`${text} is not an IP address`);
  // The URL parser writes all groups in hexadecimal, also those of an embedded IPv4 address.
  const [head = [], tail = []] = new URL(`tcp://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(IPV6_BYTES / 2 - head.length - tail.length).fill('0');
  return Buffer.concat([...head, ...zeros, ...tail].map((group) => uint16(Number.parseInt(group, 16))));
}

function addressText(bytes: Buffer): string {
  if (bytes.length === IPV4_BYTES) return bytes.join('.');
  const groups = Array.from({ length: IPV6_BYTES / 2 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  return new URL(`tcp://[${groups.join(':')}]`).hostname.slice(1, -1);
}
