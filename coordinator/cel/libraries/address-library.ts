/** IP addresses and CIDR ranges (k8s.io/apiserver pkg/cel/library/ip.go, cidr.go). */
import { isIPv4, isIPv6 } from 'node:net';
import { exactly, plus, STRING_FACTOR, scaled } from '../language/cel-cost.js';
import { CelError } from '../language/cel-error.js';
import type { CelOpaque, CelValue } from '../language/cel-value.js';
import { type CallCost, type Overload, overload, traversalOf } from '../language/overload.js';

class Address implements CelOpaque {
  readonly opaque = 'net.IP';
  constructor(
    readonly family: 4 | 6,
    readonly bits: bigint,
  ) {}

  get equalityKey(): string {
    return addressText(this);
  }

  get costSize(): number {
    return this.family === 4 ? 4 : 16;
  }
}

class Range implements CelOpaque {
  readonly opaque = 'net.CIDR';
  constructor(
    readonly address: Address,
    readonly length: number,
  ) {}

  get equalityKey(): string {
    return `${addressText(this.address)}/${this.length}`;
  }

  get costSize(): number {
    return Math.ceil(this.length / 8);
  }
}

/** Returns undefined for invalid addresses, zones and IPv4 addresses inside IPv6. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return new Address(4, joined(text.split('.').map(Number), 8n));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  // The URL parser expands `::` and embedded IPv4 addresses.
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = '', tail] = short.split('::');
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const gap = Array.from({ length: 8 - (left?.length ?? 0) - (right?.length ?? 0) }, () => '0');
  const groups = [...(left ?? []), ...gap, ...(right ?? [])].map((group) => Number.parseInt(group, 16));
  const bits = joined(groups, 16n);
  return bits >> 32n === 0xffffn ? undefined : new Address(6, bits);
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((bits, part) => (bits << width) | BigInt(part), 0n);
}

function addressText({ family, bits }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bits >> BigInt(16 * (7 - at))) & 0xffffn).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function addressOf(value: CelValue | undefined): Address {
  const address = parseAddress(value as string);
  if (address) return address;
  throw new CelError(`IP Address ${JSON.stringify(value)} parse error during conversion from string`);
}

function parseRange(text: string): Range | undefined {
  const [, addressPart = '', length = ''] = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseAddress(addressPart);
  if (!address || Number(length) > widthOf(address)) return undefined;
  return new Range(address, Number(length));
}

function rangeOf(value: CelValue | undefined): Range {
  const range = parseRange(value as string);
  if (range) return range;
  throw new CelError('network address parse error during conversion from string');
}

const widthOf = ({ family }: Address): number => (family === 4 ? 32 : 128);

function prefixOf({ address, length }: Range, of: Address): bigint {
  return of.bits >> BigInt(widthOf(address) - length);
}

function contains(range: Range, address: Address): boolean {
  return (
    range.address.family === address.family && prefixOf(range, address) === prefixOf(range, range.address)
  );
}

function containsRange(range: Range, other: Range): boolean {
  return contains(range, other.address) && range.length <= other.length;
}

function masked(range: Range): Range {
  const bits = prefixOf(range, range.address) << BigInt(widthOf(range.address) - range.length);
  return new Range(new Address(range.address.family, bits), range.length);
}

function isIn(address: Address, ranges: readonly string[]): boolean {
  return ranges.some((text) => contains(rangeOf(text), address));
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const LINK_LOCAL_MULTICAST = ['224.0.0.0/24', 'ff02::/16', 'ff12::/16', 'ff22::/16', 'ff32::/16'];
const LINK_LOCAL_UNICAST = ['169.254.0.0/16', 'fe80::/10'];
/** Go's IsGlobalUnicast: neither unspecified, broadcast, loopback, multicast nor link-local. */
const NOT_GLOBAL = [
  '0.0.0.0/32',
  '::/128',
  '255.255.255.255/32',
  ...LOOPBACK,
  '224.0.0.0/4',
  'ff00::/8',
  ...LINK_LOCAL_UNICAST,
];

/** Two byte strings are compared; a text is parsed first. */
function containsCost(more: number, parses: boolean): CallCost {
  const bytes = plus({ min: 4, max: 16 }, { min: 4, max: 16 });
  return {
    estimate: ([, other]) => {
      const parse = parses ? scaled(other?.size ?? exactly(0), STRING_FACTOR) : exactly(0);
      return { cost: plus(scaled(bytes, STRING_FACTOR), exactly(more * 3), parse) };
    },
    actual: ([range, other]) => {
      const size = (range as Range).costSize;
      const parse = parses ? Math.ceil(String(other).length * STRING_FACTOR) : 0;
      const mask = more * (Math.ceil(size * STRING_FACTOR) + 1);
      return Math.ceil(2 * size * STRING_FACTOR) + mask + parse;
    },
  };
}

function test(name: string, ranges: readonly string[], expected = true): Overload {
  return overload(`IP.${name}(): bool`, ([ip]) => isIn(ip as Address, ranges) === expected);
}

const IPS: readonly Overload[] = [
  overload('ip(string): IP', ([text]) => addressOf(text), traversalOf(0)),
  overload('isIP(string): bool', ([text]) => parseAddress(text as string) !== undefined, traversalOf(0)),
  overload(
    'ip:isCanonical(string): bool',
    ([text]) => addressText(addressOf(text)) === text,
    traversalOf(0, 2),
  ),
  overload('string(IP): string', ([ip]) => addressText(ip as Address)),
  overload('IP.family(): int', ([ip]) => BigInt((ip as Address).family)),
  overload('IP.isUnspecified(): bool', ([ip]) => (ip as Address).bits === 0n),
  test('isLoopback', LOOPBACK),
  test('isLinkLocalMulticast', LINK_LOCAL_MULTICAST),
  test('isLinkLocalUnicast', LINK_LOCAL_UNICAST),
  test('isGlobalUnicast', NOT_GLOBAL, false),
];

const CIDRS: readonly Overload[] = [
  overload('cidr(string): CIDR', ([text]) => rangeOf(text), traversalOf(0)),
  overload('isCIDR(string): bool', ([text]) => parseRange(text as string) !== undefined, traversalOf(0)),
  overload('string(CIDR): string', ([range]) => (range as Range).equalityKey),
  overload('CIDR.ip(): IP', ([range]) => (range as Range).address),
  overload('CIDR.prefixLength(): int', ([range]) => BigInt((range as Range).length)),
  overload('CIDR.masked(): CIDR', ([range]) => masked(range as Range)),
  overload(
    'CIDR.containsIP(string): bool',
    ([range, text]) => contains(range as Range, addressOf(text)),
    containsCost(0, true),
  ),
  overload(
    'CIDR.containsIP(IP): bool',
    ([range, ip]) => contains(range as Range, ip as Address),
    containsCost(0, false),
  ),
  overload(
    'CIDR.containsCIDR(string): bool',
    ([range, text]) => containsRange(range as Range, rangeOf(text)),
    containsCost(1, true),
  ),
  overload(
    'CIDR.containsCIDR(CIDR): bool',
    ([range, other]) => containsRange(range as Range, other as Range),
    containsCost(1, false),
  ),
];

export const ADDRESSES: readonly Overload[] = [...IPS, ...CIDRS];
