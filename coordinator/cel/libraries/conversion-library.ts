/** Sizes, types and conversions of the standard library (cel-spec langdef.md "List of Standard Definitions"). */
import { exactly, STRING_FACTOR, scaled } from '../language/cel-cost.js';
import { CelError } from '../language/cel-error.js';
import {
  CelDuration,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  isList,
  isMap,
  isOpaque,
  sizeOfValue,
  typeOfValue,
} from '../language/cel-value.js';
import { type CallCost, type Overload, overload, traversalOf } from '../language/overload.js';
import { asInt, asUint } from './operator-library.js';
import { durationText, parseDuration, parseTimestamp, timestampText } from './time-text.js';

const SIZES = ['string', 'bytes', 'list<A>', 'map<A, B>'].flatMap((type) => [
  overload(`size(${type}): int`, ([value]) => BigInt(sizeOfValue(value as CelValue))),
  overload(`${type}.size(): int`, ([value]) => BigInt(sizeOfValue(value as CelValue))),
]);

function conversionError(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function doubleToInt(value: number): bigint {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new CelError('integer overflow');
  return BigInt(Math.trunc(value));
}

function textToInt(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw conversionError('string', 'int');
  return asInt(BigInt(text.replace('+', '')));
}

function textToDouble(text: string): number {
  const special: Readonly<Record<string, number>> = { inf: Infinity, '+inf': Infinity, '-inf': -Infinity };
  const known = special[text.toLowerCase().replace('infinity', 'inf')];
  if (known !== undefined) return known;
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) && text.toLowerCase() !== 'nan') throw conversionError('string', 'double');
  return value;
}

/** Formats like Go's `%g`. */
export function doubleText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (value !== 0 && (Math.abs(value) >= 1e21 || Math.abs(value) < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  true: true,
  TRUE: true,
  True: true,
  T: true,
  '0': false,
  f: false,
  false: false,
  FALSE: false,
  False: false,
  F: false,
};

function textToBool(text: string): boolean {
  const value = Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
  if (value === undefined) throw conversionError('string', 'bool');
  return value;
}

function bytesText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const same: Overload['call'] = ([value]) => value as CelValue;

/** Each type converts to itself. */
const IDENTITIES = ['int', 'uint', 'double', 'string', 'bool', 'bytes', 'timestamp', 'duration'].map((type) =>
  overload(`${type}(${type}): ${type}`, same),
);

const NUMBERS: readonly Overload[] = [
  overload('int(uint): int', ([a]) => asInt((a as CelUint).value)),
  overload('int(double): int', ([a]) => doubleToInt(a as number)),
  overload('int(string): int', ([a]) => textToInt(a as string)),
  overload('int(timestamp): int', ([a]) => (a as CelTimestamp).nanos / 1_000_000_000n),
  overload('int(duration): int', ([a]) => (a as CelDuration).nanos),
  overload('uint(int): uint', ([a]) => asUint(a as bigint)),
  overload('uint(double): uint', ([a]) => asUint(doubleToInt(a as number))),
  overload('uint(string): uint', ([a]) => asUint(textToInt(a as string))),
  overload('double(int): double', ([a]) => Number(a as bigint)),
  overload('double(uint): double', ([a]) => Number((a as CelUint).value)),
  overload('double(string): double', ([a]) => textToDouble(a as string)),
];

/** A character has at most four bytes. */
const ENCODE_COST: CallCost = {
  ...traversalOf(0),
  estimate: ([text]) => {
    const size = text?.size ?? exactly(0);
    return { cost: scaled(size, STRING_FACTOR), size: { min: size.min, max: size.max * 4 } };
  },
};

/** The longest text of a scalar: a timestamp with nanoseconds and a zone. */
const SCALAR_TEXT: CallCost = {
  estimate: () => ({ cost: exactly(1), size: { min: 1, max: 35 } }),
  actual: () => 1,
};

const TEXTS: readonly Overload[] = [
  overload('string(int): string', ([a]) => String(a as bigint), SCALAR_TEXT),
  overload('string(uint): string', ([a]) => String((a as CelUint).value), SCALAR_TEXT),
  overload('string(double): string', ([a]) => doubleText(a as number), SCALAR_TEXT),
  overload('string(bool): string', ([a]) => String(a as boolean), SCALAR_TEXT),
  overload('string(bytes): string', ([a]) => bytesText(a as Uint8Array), traversalOf(0)),
  overload('string(timestamp): string', ([a]) => timestampText((a as CelTimestamp).nanos), SCALAR_TEXT),
  overload('string(duration): string', ([a]) => durationText((a as CelDuration).nanos), SCALAR_TEXT),
  overload('bool(string): bool', ([a]) => textToBool(a as string)),
  overload('bytes(string): bytes', ([a]) => Buffer.from(a as string, 'utf8'), ENCODE_COST),
  overload('timestamp(string): timestamp', ([a]) => parseTimestamp(a as string)),
  overload('timestamp(int): timestamp', ([a]) => new CelTimestamp((a as bigint) * 1_000_000_000n)),
  overload('duration(string): duration', ([a]) => parseDuration(a as string)),
];

const TYPE_SIZES: CallCost = {
  estimate: ([value]) => ({ cost: exactly(1), ...(value ? { size: value.size } : {}) }),
  actual: () => 1,
};

const TYPES: readonly Overload[] = [
  overload('dyn(A): dyn', same, TYPE_SIZES),
  overload('type(A): type', ([value]) => new CelTypeValue(typeOfValue(value as CelValue))),
];

/** True for the values that `optional.ofNonZeroValue` takes as absent. */
function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration || value instanceof CelTimestamp) return value.nanos === 0n;
  if (isList(value) || value instanceof Uint8Array) return value.length === 0;
  return typeof value === 'object' && !isOpaque(value) && isMap(value) && value.size === 0;
}

const OPTIONALS: readonly Overload[] = [
  overload('optional:of(A): optional<A>', ([value]) => new CelOptional(value)),
  overload('optional:none(): optional<dyn>', () => new CelOptional(undefined)),
  overload('optional:ofNonZeroValue(A): optional<A>', ([value]) =>
    isZero(value as CelValue) ? new CelOptional(undefined) : new CelOptional(value),
  ),
  overload('optional<A>.hasValue(): bool', ([value]) => (value as CelOptional).value !== undefined),
  overload('optional<A>.value(): A', ([optional]) => {
    const { value } = optional as CelOptional;
    if (value === undefined) throw new CelError('optional.none() dereference');
    return value;
  }),
];

/** Everything that the language itself offers besides operators and texts. */
export const CONVERSIONS: readonly Overload[] = [
  ...SIZES,
  ...IDENTITIES,
  ...NUMBERS,
  ...TEXTS,
  ...TYPES,
  ...OPTIONALS,
];
