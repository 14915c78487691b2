/** Resource quantities: `100m`, `200Mi`, `1.5`, `1e3` (k8s.io/apimachinery api/resource). */

/** A quantity as written in a manifest; numbers appear where YAML had no quotes. */
export type Quantity = string | number;

const SUFFIXES: Record<string, number> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Upstream cuts larger values off here (`maxAllowed`, the largest int64). */
const LARGEST = 2 ** 63 - 1;

const FORM = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/**
 * The quantity as a finite number of its base unit (cores, bytes); undefined for a text that is not a quantity, such as
 * `NaN`, `Infinity`, `0x10` or an empty one.
 */
export function parseQuantity(quantity: Quantity | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const match = FORM.exec(String(quantity));
  if (!match) return undefined;
  const value = Number(`${match[1]}${match[2] ?? ''}`) * (SUFFIXES[match[3] ?? ''] ?? 1);
  return Math.min(Math.max(value, -LARGEST), LARGEST);
}

/** CPU cores as whole millicores, rounded up as the scheduler does; absent or unreadable = 0. */
export function milliCpu(quantity: Quantity | undefined): number {
  return Math.ceil(Number(((parseQuantity(quantity) ?? 0) * 1000).toFixed(6)));
}

/** Bytes (or any counted resource) as a whole number, rounded up; absent or unreadable = 0. */
export function wholeUnits(quantity: Quantity | undefined): number {
  return Math.ceil(Number((parseQuantity(quantity) ?? 0).toFixed(6)));
}
