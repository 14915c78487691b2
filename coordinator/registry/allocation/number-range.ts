/** Ranges from which Services get addresses and node ports. An IPv4 address is a number here. */
import { isIPv4 } from 'node:net';

export const DEFAULT_SERVICE_CIDR = '10.96.0.0/16';
export const DEFAULT_NODE_PORT_RANGE = '30000-32767';

export interface NumberRange {
  /** As the operator wrote it, for error messages. */
  text: string;
  first: number;
  last: number;
  /** Numbers from `first` up to this one are for requests. They are chosen only when all others are in use. */
  firstChosen: number;
}

/** Bounds of the share that is kept for requests. */
interface RequestedShare {
  step: number;
  max: number;
}

/** The least numbers that are kept for requests. A range that is not larger keeps none. */
const MIN_REQUESTED = 16;
/** KEP-3070: a sixteenth of the addresses, at most 256. */
const ADDRESS_SHARE: RequestedShare = { step: 16, max: 256 };
/** KEP-3668: a 32nd of the ports, at most 128. */
const PORT_SHARE: RequestedShare = { step: 32, max: 128 };
const MIN_PREFIX = 8;
const MAX_PREFIX = 30;
const MAX_PORT = 65_535;

function requestedShare(size: number, { step, max }: RequestedShare): number {
  if (size <= MIN_REQUESTED) return 0;
  return Math.min(Math.max(MIN_REQUESTED, Math.floor(size / step)), max);
}

/** Returns the addresses of Services, or undefined for `off`. Throws if the text is not a usable IPv4 range. */
export function readServiceCidr(text: string): NumberRange | undefined {
  if (text === 'off') return undefined;
  const [address = '', prefix = '', ...rest] = text.split('/');
  const bits = Number(prefix);
  if (!isIPv4(address) || !/^\d+$/.test(prefix) || rest.length > 0 || bits < MIN_PREFIX || bits > MAX_PREFIX)
    throw new Error(
      `must be off or an IPv4 range from /${MIN_PREFIX} to /${MAX_PREFIX}, for example 10.96.0.0/16`,
    );
  const size = 2 ** (32 - bits);
  const network = numberOfAddress(address);
  if (network % size !== 0)
    throw new Error(
      `must begin with the first address of the range, ${addressOf(network - (network % size))}`,
    );
  if (isUnusable(address)) throw new Error('must not be a loopback, link-local or multicast range');
  const first = network + 1;
  return { text, first, last: network + size - 2, firstChosen: first + requestedShare(size, ADDRESS_SHARE) };
}

function isUnusable(address: string): boolean {
  const [one = 0, two = 0] = address.split('.').map(Number);
  return one === 0 || one === 127 || one >= 224 || (one === 169 && two === 254);
}

/** Returns node ports. Throws if the text is not a range such as `30000-32767`. */
export function readPortRange(text: string): NumberRange {
  const [, from, to] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  const first = Number(from);
  const last = Number(to);
  if (!(first >= 1 && first <= last && last <= MAX_PORT))
    throw new Error(`must be two ports from 1 to ${MAX_PORT}, for example 30000-32767`);
  return { text, first, last, firstChosen: first + requestedShare(last - first + 1, PORT_SHARE) };
}

/** Returns a random free number, or undefined if the range is full. `random` is uniform in [0, 1). */
export function chooseFree(
  { first, last, firstChosen }: NumberRange,
  isUsed: (number: number) => boolean,
  random: () => number,
): number | undefined {
  return (
    freeBetween(firstChosen, last, isUsed, random) ?? freeBetween(first, firstChosen - 1, isUsed, random)
  );
}

function freeBetween(
  first: number,
  last: number,
  isUsed: (number: number) => boolean,
  random: () => number,
): number | undefined {
  const size = last - first + 1;
  const start = Math.floor(random() * size);
  for (let step = 0; step < size; step += 1) {
    const number = first + ((start + step) % size);
    if (!isUsed(number)) return number;
  }
  return undefined;
}

export function contains({ first, last }: NumberRange, number: number): boolean {
  return number >= first && number <= last;
}

/** Returns NaN for a text that is not an IPv4 address. */
export function numberOfAddress(address: string): number {
  if (!isIPv4(address)) return Number.NaN;
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

export function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
