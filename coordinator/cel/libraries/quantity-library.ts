/** Quantities such as `200Mi` (k8s.io/apiserver pkg/cel/library/quantity.go). They are exact: billionths of a unit. */
import { CelError } from '../language/cel-error.js';
import type { CelOpaque, CelValue } from '../language/cel-value.js';
import { type Overload, overload, traversalOf } from '../language/overload.js';

const NANO = 1_000_000_000n;
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?([eE]([+-]?\d+)|[numkMGTPE]|[KMGTPE]i)?$/;
const POWERS_OF_TEN: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const POWERS_OF_TWO: Readonly<Record<string, bigint>> = {
  Ki: 10n,
  Mi: 20n,
  Gi: 30n,
  Ti: 40n,
  Pi: 50n,
  Ei: 60n,
};
const MAX_EXPONENT = 36;

class Quantity implements CelOpaque {
  readonly opaque = 'kubernetes.Quantity';
  constructor(readonly nanos: bigint) {}

  get equalityKey(): bigint {
    return this.nanos;
  }
}

/** Fractions of a billionth are rounded up, away from zero. */
function parse(text: string): Quantity | undefined {
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = FORM.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const ten = exponent === undefined ? (POWERS_OF_TEN[suffix] ?? 0) : Number(exponent);
  if (Math.abs(ten) > MAX_EXPONENT || fraction.length > MAX_EXPONENT) return undefined;
  const digits = BigInt(`${whole}${fraction}` || '0') * 2n ** (POWERS_OF_TWO[suffix] ?? 0n);
  const shift = ten + 9 - fraction.length;
  const divisor = 10n ** BigInt(Math.max(-shift, 0));
  const size = (digits * 10n ** BigInt(Math.max(shift, 0)) + divisor - 1n) / divisor;
  return new Quantity(sign === '-' ? -size : size);
}

function quantityOf(text: CelValue | undefined): Quantity {
  const quantity = parse(text as string);
  if (quantity) return quantity;
  throw new CelError(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}

const nanosOf = (value: CelValue | undefined): bigint => (value as Quantity).nanos;

function sign(value: bigint): bigint {
  if (value === 0n) return 0n;
  return value > 0n ? 1n : -1n;
}

function asInteger(quantity: Quantity): bigint {
  if (!isInteger(quantity)) throw new CelError('cannot convert value to integer');
  return quantity.nanos / NANO;
}

function isInteger({ nanos }: Quantity): boolean {
  return nanos % NANO === 0n && BigInt.asIntN(64, nanos / NANO) === nanos / NANO;
}

export const QUANTITIES: readonly Overload[] = [
  overload('quantity(string): Quantity', ([text]) => quantityOf(text), traversalOf(0)),
  overload('isQuantity(string): bool', ([text]) => parse(text as string) !== undefined, traversalOf(0)),
  overload('Quantity.sign(): int', ([a]) => sign(nanosOf(a))),
  overload('sign(Quantity): int', ([a]) => sign(nanosOf(a))),
  overload('Quantity.isGreaterThan(Quantity): bool', ([a, b]) => nanosOf(a) > nanosOf(b)),
  overload('Quantity.isLessThan(Quantity): bool', ([a, b]) => nanosOf(a) < nanosOf(b)),
  overload('Quantity.compareTo(Quantity): int', ([a, b]) => sign(nanosOf(a) - nanosOf(b))),
  overload('Quantity.asApproximateFloat(): double', ([a]) => Number(nanosOf(a)) / Number(NANO)),
  overload('Quantity.asInteger(): int', ([a]) => asInteger(a as Quantity)),
  overload('Quantity.isInteger(): bool', ([a]) => isInteger(a as Quantity)),
  overload('Quantity.add(Quantity): Quantity', ([a, b]) => new Quantity(nanosOf(a) + nanosOf(b))),
  overload('Quantity.add(int): Quantity', ([a, b]) => new Quantity(nanosOf(a) + (b as bigint) * NANO)),
  overload('Quantity.sub(Quantity): Quantity', ([a, b]) => new Quantity(nanosOf(a) - nanosOf(b))),
  overload('Quantity.sub(int): Quantity', ([a, b]) => new Quantity(nanosOf(a) - (b as bigint) * NANO)),
];
