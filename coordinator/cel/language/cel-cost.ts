/** Costs of CEL (cel-go checker/cost.go, interpreter/runtimecost.go). A unit is roughly 50 ns upstream. */
import { CostExceeded } from './cel-error.js';
import { type CelType, DYN } from './cel-type.js';

/** The cost of reading a character. */
export const STRING_FACTOR = 0.1;
/** The cost of a character of a regular expression: an instruction has about four characters. */
export const REGEX_FACTOR = 0.25;
export const LIST_COST = 10;
export const MAP_COST = 30;

/** A range of sizes or costs. Infinity means unknown. */
export interface Range {
  min: number;
  max: number;
}

export const UNKNOWN_SIZE: Range = { min: 0, max: Number.POSITIVE_INFINITY };

export function exactly(value: number): Range {
  return { min: value, max: value };
}

export function plus(...ranges: readonly Range[]): Range {
  let [min, max] = [0, 0];
  for (const range of ranges) {
    min += range.min;
    max += range.max;
  }
  return { min, max };
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

export function times(a: Range, b: Range): Range {
  return { min: product(a.min, b.min), max: product(a.max, b.max) };
}

/** Multiplies by a factor and rounds up. */
export function scaled({ min, max }: Range, factor: number): Range {
  return { min: Math.ceil(product(min, factor)), max: Math.ceil(product(max, factor)) };
}

/** Nothing times an unknown size is nothing. */
function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

/** What an estimate knows of an operand. */
export interface Operand {
  type: CelType;
  size: Range;
  /** Sizes of the elements of a list or the values of a map. */
  element: Range;
}

export interface CallEstimate {
  cost: Range;
  size?: Range;
  element?: Range;
}

/** Returns the declared size of a value of this type, or an unknown size. */
export function declaredSize(type: CelType): Range {
  if (type.maxSize !== undefined) return { min: 0, max: type.maxSize };
  return isScalar(type) ? exactly(1) : UNKNOWN_SIZE;
}

export function elementOf(type: CelType): CelType {
  if (type.kind === 'list') return type.element;
  return type.kind === 'map' ? type.value : DYN;
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'int', 'uint', 'double', 'timestamp', 'duration']);

function isScalar(type: CelType): boolean {
  return type.kind === 'optional' ? isScalar(type.value) : SCALARS.has(type.kind);
}

/** CPU time that the expressions of one request may use: several times what their cost budget takes. */
const MAX_CPU_MICROS = 2_000_000;
/** Charges between two readings of the CPU time. A reading takes about a microsecond. */
const CHARGES_PER_READING = 256;

/**
 * Limits the CPU time of all expressions of one request. Units of cost are upstream's. Some functions take much longer here
 * than their units suggest, and an evaluation blocks every other request. A pause of the machine does not count.
 */
export class CpuAllowance {
  #charges = 0;
  #startedAt: number | undefined;

  constructor(private readonly readMicros: () => number = cpuMicros) {}

  /** Throws if the time is used up. */
  check(): void {
    this.#charges += 1;
    if (this.#charges % CHARGES_PER_READING !== 0) return;
    const now = this.readMicros();
    this.#startedAt ??= now;
    if (now - this.#startedAt > MAX_CPU_MICROS) throw new CostExceeded();
  }
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** What the expressions of one request share. */
export interface EvaluationBudget {
  /** Units of cost that are left. */
  remaining: number;
  readonly cpu: CpuAllowance;
}

export function evaluationBudget(units: number): EvaluationBudget {
  return { remaining: units, cpu: new CpuAllowance() };
}

/** Counts the cost of one evaluation. Throws as soon as a limit is passed. */
export class CostMeter {
  used = 0;
  constructor(
    private readonly limit: number,
    private readonly cpu: CpuAllowance,
  ) {}

  charge(cost: number): void {
    this.used += cost;
    if (this.used > this.limit) throw new CostExceeded();
    this.cpu.check();
  }
}
