/** Resource quantities: `100m`, `200Mi`, `1.5`, `1e3` (k8s.io/apimachinery api/resource). */

/** A quantity in a manifest. YAML without quotes produces numbers. */
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

/** Upstream clamps larger values to the largest int64 (`maxAllowed`). */
const LARGEST = 2 ** 63 - 1;

const FORM = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Returns a finite number of base units (cores, bytes), or undefined for invalid texts such as `NaN`. */
export function parseQuantity(quantity: Quantity | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const match = FORM.exec(String(quantity));
  if (!match) return undefined;
  const value = Number(`${match[1]}${match[2] ?? ''}`) * (SUFFIXES[match[3] ?? ''] ?? 1);
  return Math.min(Math.max(value, -LARGEST), LARGEST);
}

/** Returns whole millicores, rounded up like the scheduler does. Absent or invalid quantities count as 0. */
export function milliCpu(quantity: Quantity | undefined): number {
  return Math.ceil(Number(((parseQuantity(quantity) ?? 0) * 1000).toFixed(6)));
}

/** Returns whole units of a quantity such as bytes, rounded up. Absent or invalid quantities count as 0. */
export function wholeUnits(quantity: Quantity | undefined): number {
  return Math.ceil(Number((parseQuantity(quantity) ?? 0).toFixed(6)));
}
