/** Functions of texts (cel-go ext/strings.go, version 2). Positions count characters, not UTF-16 units. */
import { type CostMeter, exactly, plus, STRING_FACTOR, scaled, times } from '../language/cel-cost.js';
import { CelError } from '../language/cel-error.js';
import { type CelList, type CelValue, sizeOfValue } from '../language/cel-value.js';
import { type CallCost, type Overload, overload, sizeCost, traversalOf } from '../language/overload.js';
import { formatText } from './format-text.js';

/** True for texts in which each character is one UTF-16 unit. */
function isBasic(text: string): boolean {
  return !/[\ud800-\udbff]/.test(text);
}

function indexOf(text: string, part: string, offset: bigint): bigint {
  if (offset < 0n) throw new CelError(`index out of range: ${offset}`);
  const characters = isBasic(text) ? undefined : [...text];
  const length = BigInt(characters?.length ?? text.length);
  if (part === '') return offset > length ? length : offset;
  if (offset >= length) return -1n;
  const from = characters ? characters.slice(0, Number(offset)).join('').length : Number(offset);
  const found = text.indexOf(part, from);
  if (found === -1 || !characters) return BigInt(found);
  return BigInt([...text.slice(0, found)].length);
}

function lastIndexOf(text: string, part: string, offset?: bigint): bigint {
  if (offset !== undefined && offset < 0n) throw new CelError(`index out of range: ${offset}`);
  const characters = [...text];
  const length = BigInt(characters.length);
  if (part === '') return offset === undefined || offset > length ? length : offset;
  if (offset !== undefined && offset >= length) return -1n;
  const until = offset === undefined ? text.length : characters.slice(0, Number(offset)).join('').length;
  const found = text.lastIndexOf(part, until);
  return found === -1 ? -1n : BigInt([...text.slice(0, found)].length);
}

function charAt(text: string, index: bigint): string {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) throw new CelError(`index out of range: ${index}`);
  return characters[Number(index)] ?? '';
}

function substring(text: string, start: bigint, end?: bigint): string {
  const characters = [...text];
  const length = BigInt(characters.length);
  const until = end ?? length;
  if (end !== undefined && start > until) {
    throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0n || start > length) throw new CelError(`index out of range: ${start}`);
  if (until < 0n || until > length) throw new CelError(`index out of range: ${until}`);
  return characters.slice(Number(start), Number(until)).join('');
}

/** Charges the growth of the text before it is built: a replacement can square the size. */
function chargeGrowth(text: string, [from, to]: readonly [string, string], meter: CostMeter): void {
  const growth = to.length - from.length;
  if (growth <= 0) return;
  const occurrences = from === '' ? text.length + 1 : text.split(from).length - 1;
  meter.charge(Math.floor(growth * occurrences * STRING_FACTOR));
}

/** Replaces at most `limit` occurrences; all if it is negative. */
function replace(text: string, [from, to]: readonly [string, string], limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to);
  const parts = from === '' ? [...text] : text.split(from);
  if (from === '') return replaceNothing(parts, to, Number(limit));
  const count = Math.min(Number(limit), parts.length - 1);
  const rest = parts.slice(count).join(from);
  return count === 0 ? text : `${parts.slice(0, count).join(to)}${to}${rest}`;
}

/** Go inserts the replacement before each character and at the end. */
function replaceNothing(characters: readonly string[], to: string, limit: number): string {
  let text = '';
  for (const [at, character] of characters.entries()) text += at < limit ? `${to}${character}` : character;
  return characters.length < limit ? `${text}${to}` : text;
}

function split(text: string, separator: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const parts = separator === '' ? [...text] : text.split(separator);
  const max = Number(limit);
  if (limit < 0n || parts.length <= max) return parts;
  return [...parts.slice(0, max - 1), parts.slice(max - 1).join(separator)];
}

function join(list: CelList, separator: string): string {
  for (const item of list) if (typeof item !== 'string') throw new CelError('join: invalid input');
  return list.join(separator);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all characters of ASCII
const ASCII = /^[\x00-\x7f]*$/;
/** A text of ASCII is changed at once, because a replacement of each word is many times slower. */
const ascii = (text: string, change: (part: string) => string): string =>
  ASCII.test(text) ? change(text) : text.replace(/[A-Za-z]+/g, change);

const SEARCH_COST = traversalOf(0);

/** A search is charged by bytes, rounded down (traversalCost of the Kubernetes libraries). */
const INDEX_COST: CallCost = {
  estimate: ([text]) => ({ cost: scaled(text?.size ?? exactly(0), STRING_FACTOR) }),
  actual: ([text]) => Math.floor(Buffer.byteLength(text as string) * STRING_FACTOR),
};

const CONTAINS_COST = sizeCost(([text = exactly(0), part = exactly(0)]) =>
  times(scaled(text, STRING_FACTOR), scaled(part, STRING_FACTOR)),
);

const PREFIX_COST = traversalOf(1);

const REPLACE_COST: CallCost = {
  actual: traversalOf(0, 2).actual,
  estimate: ([text, from, to]) => {
    const [size, part, by] = [text, from, to].map((operand) => operand?.size ?? exactly(0));
    const cost = scaled(size ?? exactly(0), 2 * STRING_FACTOR);
    return { cost, size: { min: 0, max: longestReplacement(size?.max ?? 0, part?.min ?? 0, by?.max ?? 0) } };
  },
};

function longestReplacement(size: number, part: number, by: number): number {
  if (part === 0) return times(exactly(size + 1), exactly(by)).max + size;
  return by <= part ? size : times(exactly(Math.ceil(size / part)), exactly(by)).max;
}

const SPLIT_COST: CallCost = {
  actual: traversalOf(0, 2).actual,
  estimate: ([text]) => {
    const size = text?.size ?? exactly(0);
    return { cost: scaled(size, 2 * STRING_FACTOR), size: { min: 0, max: size.max }, element: size };
  },
};

const JOIN_COST: CallCost = {
  actual: ([list, separator = '']) => {
    const items = list as CelList;
    const gaps = Math.max(items.length - 1, 0) * sizeOfValue(separator);
    const size = items.reduce<number>((sum, item) => sum + sizeOfValue(item), gaps);
    return Math.ceil(size * 2 * STRING_FACTOR);
  },
  estimate: ([list, separator]) => {
    const items = list?.size ?? exactly(0);
    const gaps = { min: Math.max(items.min - 1, 0), max: Math.max(items.max - 1, 0) };
    const size = plus(times(items, list?.element ?? exactly(0)), times(separator?.size ?? exactly(0), gaps));
    return { cost: scaled(size, STRING_FACTOR), size };
  },
};

type TextCall = (text: string, ...args: never[]) => CelValue;

function text(signature: string, run: TextCall, cost: CallCost): Overload {
  return overload(`string.${signature}`, (args) => run(...(args as [string, ...never[]])), cost);
}

export const STRINGS: readonly Overload[] = [
  text('startsWith(string): bool', (value, part: string) => value.startsWith(part), PREFIX_COST),
  text('endsWith(string): bool', (value, part: string) => value.endsWith(part), PREFIX_COST),
  text('contains(string): bool', (value, part: string) => value.includes(part), CONTAINS_COST),
  overload('string.charAt(int): string', ([value, at]) => charAt(value as string, at as bigint)),
  text('indexOf(string): int', (value, part: string) => indexOf(value, part, 0n), INDEX_COST),
  text(
    'indexOf(string, int): int',
    (value, part: string, at: bigint) => indexOf(value, part, at),
    INDEX_COST,
  ),
  text('lastIndexOf(string): int', (value, part: string) => lastIndexOf(value, part), INDEX_COST),
  text(
    'lastIndexOf(string, int): int',
    (value, part: string, at: bigint) => lastIndexOf(value, part, at),
    INDEX_COST,
  ),
  text('lowerAscii(): string', (value) => ascii(value, (part) => part.toLowerCase()), SEARCH_COST),
  text('upperAscii(): string', (value) => ascii(value, (part) => part.toUpperCase()), SEARCH_COST),
  text('trim(): string', (value) => value.trim(), SEARCH_COST),
  text('substring(int): string', (value, start: bigint) => substring(value, start), SEARCH_COST),
  text(
    'substring(int, int): string',
    (value, start: bigint, end: bigint) => substring(value, start, end),
    SEARCH_COST,
  ),
  ...['string.replace(string, string): string', 'string.replace(string, string, int): string'].map((each) =>
    overload(
      each,
      ([value, from, to, limit = -1n], meter) => {
        const change = [from as string, to as string] as const;
        chargeGrowth(value as string, change, meter);
        return replace(value as string, change, limit as bigint);
      },
      REPLACE_COST,
    ),
  ),
  text('split(string): list<string>', (value, by: string) => split(value, by, -1n), SPLIT_COST),
  text(
    'split(string, int): list<string>',
    (value, by: string, limit: bigint) => split(value, by, limit),
    SPLIT_COST,
  ),
  overload('list<string>.join(): string', ([list]) => join(list as CelList, ''), JOIN_COST),
  overload(
    'list<string>.join(string): string',
    ([list, by]) => join(list as CelList, by as string),
    JOIN_COST,
  ),
  overload(
    'string.format(list<dyn>): string',
    ([value, args], meter) => formatText(value as string, args as CelList, meter),
    traversalOf(0),
  ),
  overload('strings:quote(string): string', ([value]) => JSON.stringify(value), traversalOf(0)),
];
