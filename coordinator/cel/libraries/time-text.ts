/** Timestamps (RFC 3339) and durations (Go) as texts, with nanoseconds. */
import { CelError } from '../language/cel-error.js';
import type { CelDuration, CelTimestamp } from '../language/cel-value.js';
import { asDuration, asTimestamp } from './operator-library.js';

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/;

export function parseTimestamp(text: string): CelTimestamp {
  const match = TIMESTAMP.exec(text);
  const [, year, month, day] = match ?? [];
  const zone = match?.[8]?.toUpperCase() ?? '';
  const ms = match
    ? Date.parse(`${year}-${month}-${day}T${match[4]}:${match[5]}:${match[6]}${zone}`)
    : Number.NaN;
  // Date.parse accepts February 30.
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number.isNaN(ms) || Number(day) > days)
    throw new CelError(`invalid timestamp: ${JSON.stringify(text)}`);
  return asTimestamp(BigInt(ms) * 1_000_000n + BigInt((match?.[7] ?? '').padEnd(9, '0')));
}

export function timestampText(nanos: bigint): string {
  const seconds = floorDivide(nanos, 1_000_000_000n);
  const rest = nanos - seconds * 1_000_000_000n;
  const text = new Date(Number(seconds) * 1000).toISOString().replace('.000Z', '');
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`;
  return `${text}${fraction}Z`;
}

export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

export function parseDuration(text: string): CelDuration {
  const nanos = durationNanos(text);
  if (nanos === undefined) throw new CelError(`invalid duration: ${JSON.stringify(text)}`);
  return asDuration(nanos);
}

/** Returns nanoseconds, or undefined for a text that Go's ParseDuration refuses. */
export function durationNanos(text: string): bigint | undefined {
  const [, sign, body = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (body === '0') return 0n;
  // Digits without a point match in one way only. Two ways would take quadratic time.
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g,
  )) {
    const scale = UNITS[unit] ?? 0n;
    nanos += BigInt(whole || '0') * scale;
    if (fraction !== '') nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return sign === '-' ? -nanos : nanos;
}

/** Formats a duration as seconds, like cel-go: `3600s`, `0.5s`. */
export function durationText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = size % 1_000_000_000n;
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${sign}${size / 1_000_000_000n}${digits}s`;
}
