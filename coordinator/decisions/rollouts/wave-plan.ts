/** Which node is updated in which wave of a RolloutPolicy. The same nodes, labels and policy give the same waves. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Labels } from '../../../shared/kube/objects/selectors.js';
import { REST_WAVE, type RolloutWave } from '../../../shared/kube/rollouts/rollout-policy-types.js';

/** A node that the DaemonSet may run on. */
export interface PlannedNode {
  name: string;
  labels?: Labels | undefined;
  /** A small whole number, the lower the sooner: those that have the revision already, then the healthiest. Absent: 0. */
  rank?: number;
}

/** By what waves are drawn, besides the nodes. */
interface DrawOptions {
  /** The same for each revision. */
  seed: string;
  /** For waves that are drawn anew each time. */
  revision?: string;
  /** Label whose values are sites. */
  spreadBy?: string | undefined;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

function mixed(hash: number, text: string): number {
  let mix = hash;
  for (let at = 0; at < text.length; at += 1) mix = Math.imul(mix ^ text.charCodeAt(at), FNV_PRIME);
  return mix;
}

/** A node's place in the draw: 32 bits, unrelated for names that are alike. */
function lot(seed: number, name: string): number {
  let hash = mixed(seed, name);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** What a node holds, to rank it. Times are ms since the epoch. */
interface HeldRevisions {
  hashes: readonly string[];
  /** When its Pod of the revision on its way was made, if it has one. */
  newPodAt?: number | undefined;
}

/** What is on its way. */
export interface RankedRevision {
  hash: string;
  stable: string | undefined;
  /** Since when; undefined: it is only about to begin. */
  startedAt: number | undefined;
}

/**
 * The rank of a node: first those that this rollout has given the revision, so that waves drawn anew in its middle bring it to
 * nobody else; then those left with one that was never completed, to be relieved of it; then by health, of `HEALTH`.
 */
export function nodeRank(
  { hashes, newPodAt }: HeldRevisions,
  { hash, stable, startedAt }: RankedRevision,
  health: number,
): number {
  if (startedAt !== undefined && newPodAt !== undefined && newPodAt >= startedAt) return -2;
  return hashes.some((one) => one !== stable && one !== hash) ? -1 : health;
}

/** `5` as it is, `"5%"` of `total` by `round`; what is neither counts as 0. */
export function scaledAmount(value: IntOrString, total: number, round: (share: number) => number): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+)%$/.exec(value);
  return match ? round((Number(match[1]) * total) / 100) : 0;
}

/** All waves by name, the last one for the rest. */
export function waveNames(waves: readonly RolloutWave[]): string[] {
  return [...waves.map(({ name }) => name), REST_WAVE];
}

/** A walk over a fleet, which pauses now and then for whoever has other work. */
type Walk<T> = Generator<undefined, T, undefined>;

/** So many nodes are looked at between two pauses: well below a millisecond. */
const STRIDE = 500;

function* strides<T>(items: Iterable<T>): Generator<T | undefined, void, undefined> {
  let count = 0;
  for (const item of items) {
    count += 1;
    yield item;
    if (count % STRIDE === 0) yield undefined;
  }
}

const LOTS = 2 ** 32;

/** By rank, then by the second number, below `LOTS`: as one number, which engines sort without asking anybody. */
class Ordered {
  readonly #groups = new Map<number, PlannedNode[]>();

  put(node: PlannedNode, second: number): void {
    const key = (node.rank ?? 0) * LOTS + second;
    const group = this.#groups.get(key);
    if (group) group.push(node);
    else this.#groups.set(key, [node]);
  }

  /** Nodes of one place stay in the order in which they came, or are put in that of their names. */
  *inOrder(byName: boolean): Walk<PlannedNode[]> {
    const keys = Float64Array.from(this.#groups.keys()).sort();
    yield;
    const nodes: PlannedNode[] = [];
    for (const key of strides(keys)) {
      if (key === undefined) {
        yield;
        continue;
      }
      const group = this.#groups.get(key) ?? [];
      if (byName && group.length > 1) group.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const node of group) nodes.push(node);
    }
    return nodes;
  }
}

function* drawn(nodes: readonly PlannedNode[], seed: string): Walk<readonly PlannedNode[]> {
  const start = mixed(FNV_OFFSET, seed);
  const ordered = new Ordered();
  for (const node of strides(nodes)) {
    if (node) ordered.put(node, lot(start, node.name));
    else yield;
  }
  return yield* ordered.inOrder(true);
}

/** Of each rank first one node of each site, then the second of each; otherwise in the order given. */
function* spread(nodes: readonly PlannedNode[], spreadBy: string | undefined): Walk<readonly PlannedNode[]> {
  if (spreadBy === undefined) return nodes;
  const taken = new Map<string, number>();
  const ordered = new Ordered();
  for (const node of strides(nodes)) {
    if (!node) {
      yield;
      continue;
    }
    const site = ownValue(node.labels, spreadBy) ?? '';
    const round = taken.get(site) ?? 0;
    taken.set(site, round + 1);
    ordered.put(node, round);
  }
  return yield* ordered.inOrder(false);
}

function* chosen(
  nodes: readonly PlannedNode[],
  isMeant: (node: PlannedNode) => boolean,
): Walk<readonly PlannedNode[]> {
  const found: PlannedNode[] = [];
  for (const node of strides(nodes)) {
    if (!node) yield;
    else if (isMeant(node)) found.push(node);
  }
  return found;
}

/**
 * The wave of each node, by index into `waveNames`, in the order in which a wave's nodes should have their turns. Where a
 * wave takes a part, it takes the lowest ranks, spread over the sites, and among equals by lot: a node that joins or leaves
 * moves at most one other. Pauses on the way: tens of thousands of nodes take the better part of a second.
 */
export function* assignWavesStepwise(
  nodes: readonly PlannedNode[],
  waves: readonly RolloutWave[],
  { seed, revision = '', spreadBy }: DrawOptions,
): Walk<Map<string, number>> {
  const assigned = new Map<string, number>();
  let left = yield* drawn(nodes, seed);
  for (const [index, wave] of waves.entries()) {
    const { matches } = compileLabelSelector(wave.nodeSelector ?? {});
    const room = wave.nodes === undefined ? left.length : scaledAmount(wave.nodes, nodes.length, Math.ceil);
    const matching = yield* chosen(left, ({ labels }) => matches(labels));
    const ordered = wave.draw === 'Reshuffled' ? yield* drawn(matching, `${seed}/${revision}`) : matching;
    const all = yield* spread(ordered, spreadBy);
    for (const node of strides(all.slice(0, room))) {
      if (node) assigned.set(node.name, index);
      else yield;
    }
    left = yield* chosen(left, ({ name }) => !assigned.has(name));
  }
  const rest = yield* spread(left, spreadBy);
  for (const node of strides(rest)) {
    if (node) assigned.set(node.name, waves.length);
    else yield;
  }
  return assigned;
}
