/** Canonical form of quantities (k8s.io/apimachinery api/resource CanonicalizeBytes). */
import type { Quantity } from './quantity.js';

const FORM = /^([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+)|([KMGTPE]i)|([numkMGTPE]?))$/;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Longer texts and larger exponents are returned unchanged: expanding `1e100000000` takes minutes. */
const MAX_CHARACTERS = 64;
const MAX_EXPONENT = 100;
const SMALLEST_EXPONENT = -9;
const LARGEST_EXPONENT = 18;

/** Rewrites `digits` × 10^exponent with an exponent that has a suffix and as few digits as possible. */
function shortened(digits: bigint, exponent: number): { digits: bigint; exponent: number } {
  if (digits === 0n) return { digits, exponent: 0 };
  let [mantissa, power] = [digits, exponent];
  while (mantissa % 10n === 0n && power < LARGEST_EXPONENT) {
    mantissa /= 10n;
    power += 1;
  }
  const wanted = Math.min(Math.max(Math.floor(power / 3) * 3, SMALLEST_EXPONENT), LARGEST_EXPONENT);
  if (power >= wanted) return { digits: mantissa * 10n ** BigInt(power - wanted), exponent: wanted };
  // The smallest unit is nano. Round up.
  const step = 10n ** BigInt(wanted - power);
  return { digits: (mantissa + step - 1n) / step, exponent: wanted };
}

function decimalText(digits: bigint, exponent: number): string {
  const short = shortened(digits, exponent);
  return `${short.digits}${DECIMAL_SUFFIXES[(short.exponent - SMALLEST_EXPONENT) / 3] ?? ''}`;
}

function exponentText(digits: bigint, exponent: number): string {
  const short = shortened(digits, exponent);
  return short.exponent === 0 ? `${short.digits}` : `${short.digits}e${short.exponent}`;
}

/** Formats `digits` × 10^-decimals × 1024^power. Values below 1024 get no binary suffix. */
function binaryText(digits: bigint, decimals: number, power: number): string {
  const numerator = digits * 1024n ** BigInt(power);
  const denominator = 10n ** BigInt(decimals);
  if (numerator < 1024n * denominator) return decimalText(numerator, -decimals);
  let whole = (numerator + denominator - 1n) / denominator;
  let suffix = 0;
  while (whole % 1024n === 0n && suffix < BINARY_SUFFIXES.length - 1) {
    whole /= 1024n;
    suffix += 1;
  }
  return `${whole}${BINARY_SUFFIXES[suffix]}`;
}

/** Returns the canonical form: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. Invalid texts are unchanged. */
export function canonicalQuantity(quantity: Quantity): string {
  const text = String(quantity);
  if (text.length > MAX_CHARACTERS) return text;
  const [, sign, whole = '', fraction = '', exponent, binary, decimal = ''] = FORM.exec(text) ?? [];
  if (whole === '' && fraction === '') return text;
  if (Math.abs(Number(exponent ?? 0)) > MAX_EXPONENT) return text;
  const digits = BigInt(whole + fraction);
  const minus = sign === '-' && digits > 0n ? '-' : '';
  const decimals = fraction.length;
  if (binary) return minus + binaryText(digits, decimals, BINARY_SUFFIXES.indexOf(binary));
  if (exponent !== undefined) return minus + exponentText(digits, Number(exponent) - decimals);
  const power = SMALLEST_EXPONENT + DECIMAL_SUFFIXES.indexOf(decimal) * 3;
  return minus + decimalText(digits, power - decimals);
}
