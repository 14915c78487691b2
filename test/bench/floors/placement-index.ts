/**
 * Floor of placing from scratch: one bit a node for each label value and each taint; a DaemonSet is a few ANDs and ORs.
 */
import type { PlacementNode, PlacementSpec } from '../../../coordinator/decisions/placement/placement.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { NodeSelectorRequirement, Toleration } from '../../../shared/kube/pods/pod-placement-types.js';

type Bits = Uint32Array;

export class PlacementIndex {
  readonly #words: number;
  readonly #byLabel = new Map<string, Map<string, Bits>>();
  readonly #byTaint = new Map<string, { taint: Taint; bits: Bits }>();

  constructor(nodes: readonly PlacementNode[]) {
    this.#words = Math.ceil(nodes.length / 32);
    nodes.forEach(({ metadata, spec }, index) => {
      for (const [key, value] of Object.entries(metadata.labels ?? {})) this.#mark(key, value, index);
      for (const taint of spec?.taints ?? []) this.#markTaint(taint, index);
    });
  }

  /** How many nodes may run it. */
  count(spec: PlacementSpec): number {
    const found = this.#all(true);
    for (const [key, value] of Object.entries(spec.nodeSelector ?? {}))
      and(found, this.#having(key, [value]));
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (required) {
      const any = this.#all(false);
      for (const { matchExpressions = [] } of required.nodeSelectorTerms ?? [])
        or(any, this.#term(matchExpressions));
      and(found, any);
    }
    for (const { taint, bits } of this.#byTaint.values()) {
      if (!(spec.tolerations ?? []).some((toleration) => covers(toleration, taint))) andNot(found, bits);
    }
    return found.reduce((sum, word) => sum + ones(word), 0);
  }

  #term(expressions: readonly NodeSelectorRequirement[]): Bits {
    const found = this.#all(true);
    for (const { key, operator, values = [] } of expressions) {
      const known = this.#byLabel.get(key);
      const wanted = operator === 'In' || operator === 'NotIn' ? values : [...(known?.keys() ?? [])];
      const having = this.#having(key, wanted);
      if (operator === 'In' || operator === 'Exists') and(found, having);
      else andNot(found, having);
    }
    return found;
  }

  #having(key: string, values: readonly string[]): Bits {
    const known = this.#byLabel.get(key);
    const found = this.#all(false);
    for (const value of values) {
      const bits = known?.get(value);
      if (bits) or(found, bits);
    }
    return found;
  }

  #all(value: boolean): Bits {
    return new Uint32Array(this.#words).fill(value ? 0xffffffff : 0);
  }

  #mark(key: string, value: string, index: number): void {
    const values = this.#byLabel.get(key) ?? new Map<string, Bits>();
    this.#byLabel.set(key, values);
    const bits = values.get(value) ?? this.#all(false);
    values.set(value, bits);
    set(bits, index);
  }

  #markTaint(taint: Taint, index: number): void {
    const id = JSON.stringify(taint);
    const known = this.#byTaint.get(id) ?? { taint, bits: this.#all(false) };
    this.#byTaint.set(id, known);
    set(known.bits, index);
  }
}

function covers(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
}

function set(bits: Bits, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31));
}

function and(into: Bits, other: Bits): void {
  for (let word = 0; word < into.length; word += 1) into[word] = (into[word] ?? 0) & (other[word] ?? 0);
}

function or(into: Bits, other: Bits): void {
  for (let word = 0; word < into.length; word += 1) into[word] = (into[word] ?? 0) | (other[word] ?? 0);
}

function andNot(into: Bits, other: Bits): void {
  for (let word = 0; word < into.length; word += 1) into[word] = (into[word] ?? 0) & ~(other[word] ?? 0);
}

function ones(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
