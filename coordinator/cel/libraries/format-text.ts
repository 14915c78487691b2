/** `string.format(list)`: `%s %d %f %e %b %o %x %X %%` (cel-go ext/formatting.go). */
import { type CostMeter, STRING_FACTOR } from '../language/cel-cost.js';
import { CelError } from '../language/cel-error.js';
import {
  CelDuration,
  type CelList,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  isList,
  isMap,
  sizeOfValue,
} from '../language/cel-value.js';
import { doubleText } from './conversion-library.js';
import { durationText, timestampText } from './time-text.js';

/** Upstream charges only the template. A number or a time costs no more here. */
const FREE_CHARACTERS = 20;

/** Each inserted text is charged: a text that an expression formats into itself again and again doubles its size. */
export function formatText(template: string, args: CelList, meter: CostMeter): string {
  let next = 0;
  const text = template.replace(/%(\.\d+)?(.|$)/gs, (_, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (next >= args.length) throw new CelError(`index ${next} out of range`);
    const value = args[next] as CelValue;
    next += 1;
    const inserted = clause(verb, precision === undefined ? 6 : Number(precision.slice(1)), value, meter);
    meter.charge(Math.floor(Math.max(inserted.length - FREE_CHARACTERS, 0) * STRING_FACTOR));
    return inserted;
  });
  if (next < args.length)
    throw new CelError(`too many arguments supplied to string.format (expected ${next}, got ${args.length})`);
  return text;
}

function clause(verb: string, precision: number, value: CelValue, meter: CostMeter): string {
  switch (verb) {
    case 's':
      return shown(value, meter);
    case 'd':
      return decimal(value);
    case 'f':
      return asNumber(value).toFixed(precision);
    case 'e':
      return scientific(asNumber(value), precision);
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : asInteger(value).toString(2);
    case 'o':
      return asInteger(value).toString(8);
    case 'x':
      return hexadecimal(value);
    case 'X':
      return hexadecimal(value).toUpperCase();
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

/** cel-go writes the exponent with at least two superscript digits: `3.140000×10⁰⁰`. */
function scientific(value: number, precision: number): string {
  const [digits = '', exponent = ''] = value.toExponential(precision).split('e');
  const sign = exponent.startsWith('-') ? '⁻' : '';
  const raised = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? '');
  return `${digits}×10${sign}${raised}`;
}

function decimal(value: CelValue): string {
  if (typeof value === 'number') return doubleText(value);
  return asInteger(value).toString();
}

function asNumber(value: CelValue): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  throw new CelError('error during formatting: decimal clause can only be used on doubles');
}

function asInteger(value: CelValue): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return value.value;
  throw new CelError('error during formatting: integer clause can only be used on integers');
}

function hexadecimal(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return asInteger(value).toString(16);
}

/** The elements of a list or map. A list can contain another one twice, and that one a third, so the text can be huge. */
function textCost(value: CelValue): number {
  return isList(value) || isMap(value) ? sizeOfValue(value) : 0;
}

/** Formats a value for `%s`. Texts inside lists and maps are not quoted. */
function shown(value: CelValue, meter: CostMeter): string {
  meter.charge(textCost(value));
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  if (value === null) return 'null';
  if (typeof value === 'number') return doubleText(value);
  if (isList(value)) return `[${value.map((item) => shown(item, meter)).join(', ')}]`;
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTimestamp) return timestampText(value.nanos);
  if (value instanceof CelDuration) return durationText(value.nanos);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (!isMap(value)) throw new CelError('error during formatting: string clause cannot format this value');
  const keys = [...value.keys()].map(String).sort();
  const entries = keys.map((key) => `${key}: ${shown(value.get(key) ?? null, meter)}`);
  return `{${entries.join(', ')}}`;
}
