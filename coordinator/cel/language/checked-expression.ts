/** A parsed and type-checked expression. */
import type { CelType } from './cel-type.js';
import type { CelValue } from './cel-value.js';
import type { Overload } from './overload.js';

export type Macro = 'all' | 'exists' | 'existsOne' | 'map' | 'filter' | 'transformList' | 'transformMap';

/** The parts of a comprehension. `second` is the second variable of a two-variable comprehension. */
export interface Comprehension {
  macro: Macro;
  range: Checked;
  variable: string;
  second?: string;
  /** The condition of `all`, `exists`, `existsOne` and `filter`; optional for `map` and the transformations. */
  condition?: Checked;
  /** The new element of `map` and the transformations. */
  transform?: Checked;
}

export type CheckedOperation =
  | { op: 'constant'; value: CelValue }
  | { op: 'variable'; name: string }
  | { op: 'select'; operand: Checked; field: string; mode: 'required' | 'test' | 'optional' }
  | { op: 'index'; operand: Checked; index: Checked; mode: 'required' | 'optional' }
  | { op: 'call'; name: string; args: readonly Checked[]; overloads: readonly Overload[] }
  | { op: 'equal'; left: Checked; right: Checked; negated: boolean }
  | { op: 'and' | 'or'; left: Checked; right: Checked }
  | { op: 'if'; condition: Checked; then: Checked; otherwise: Checked }
  | { op: 'orElse'; optional: Checked; otherwise: Checked; unwrap: boolean }
  | { op: 'mapOptional'; optional: Checked; variable: string; body: Checked; flatten: boolean }
  | { op: 'list'; items: readonly Checked[] }
  | { op: 'mapLiteral'; entries: readonly (readonly [key: Checked, value: Checked])[] }
  | { op: 'bind'; name: string; value: Checked; body: Checked }
  | ({ op: 'comprehension' } & Comprehension);

export type Checked = CheckedOperation & { type: CelType };
