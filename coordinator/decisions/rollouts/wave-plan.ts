/** Assigns nodes to the waves of a RolloutPolicy. The same nodes, labels and policy always give the same waves. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Labels } from '../../../shared/kube/objects/selectors.js';
import { REST_WAVE, type RolloutWave } from '../../../shared/kube/rollouts/rollout-policy-types.js';

/** A node on which the DaemonSet may run. */
export interface PlannedNode {
  name: string;
  labels?: Labels | undefined;
  /** Small integer. Lower ranks are updated first. Absent: 0. */
  rank?: number;
}

interface AssignmentOptions {
  /** The same for all revisions. */
  seed: string;
  /** Part of the hash in waves that are reshuffled for each revision. */
  revision?: string;
  /** Label whose values name the sites. */
  spreadBy?: string | undefined;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

function mixed(hash: number, text: string): number {
  let mix = hash;
  for (let at = 0; at < text.length; at += 1) mix = Math.imul(mix ^ text.charCodeAt(at), FNV_PRIME);
  return mix;
}

/** A 32-bit hash that differs for similar names. */
function hashRank(seed: number, name: string): number {
  let hash = mixed(seed, name);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The revisions on a node, for its rank. Times are ms since the epoch. */
interface NodeRevisions {
  hashes: readonly string[];
  /** When the node's Pod of the current revision was created, if it has one. */
  newPodAt?: number | undefined;
}

/** The revision of the rollout. */
export interface RankedRevision {
  hash: string;
  stable: string | undefined;
  /** Start of the rollout. Undefined: it has not started. */
  startedAt: number | undefined;
}

/**
 * Returns the rank of a node. First come nodes that this rollout has updated, so that a new assignment in its middle
 * does not update others. Then come nodes with a revision that was never completed, to replace that soon. The others
 * follow by health.
 */
export function nodeRank(
  { hashes, newPodAt }: NodeRevisions,
  { hash, stable, startedAt }: RankedRevision,
  health: number,
): number {
  if (startedAt !== undefined && newPodAt !== undefined && newPodAt >= startedAt) return -2;
  return hashes.some((one) => one !== stable && one !== hash) ? -1 : health;
}

/** Returns a number unchanged and a percentage of `total`, rounded by `round`. Any other value counts as 0. */
export function scaledAmount(value: IntOrString, total: number, round: (share: number) => number): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+)%$/.exec(value);
  return match ? round((Number(match[1]) * total) / 100) : 0;
}

/** Returns the names of all waves, the implicit last one included. */
export function waveNames(waves: readonly RolloutWave[]): string[] {
  return [...waves.map(({ name }) => name), REST_WAVE];
}

/** A computation over a fleet that yields from time to time, so that other work can run. */
type Walk<T> = Generator<undefined, T, undefined>;

/** Nodes between two yields: well below a millisecond of work. */
const STRIDE = 500;

function* strides<T>(items: Iterable<T>): Generator<T | undefined, void, undefined> {
  let count = 0;
  for (const item of items) {
    count += 1;
    yield item;
    if (count % STRIDE === 0) yield undefined;
  }
}

const HASH_RANGE = 2 ** 32;

/** Sorts nodes by rank, then by a second number below `HASH_RANGE`. Both are combined in one number, which sorts fastest. */
class Ordered {
  readonly #groups = new Map<number, PlannedNode[]>();

  put(node: PlannedNode, second: number): void {
    const key = (node.rank ?? 0) * HASH_RANGE + second;
    const group = this.#groups.get(key);
    if (group) group.push(node);
    else this.#groups.set(key, [node]);
  }

  /** Nodes with the same key keep their order, or are sorted by name. */
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

function* sorted(nodes: readonly PlannedNode[], seed: string): Walk<readonly PlannedNode[]> {
  const start = mixed(FNV_OFFSET, seed);
  const ordered = new Ordered();
  for (const node of strides(nodes)) {
    if (node) ordered.put(node, hashRank(start, node.name));
    else yield;
  }
  return yield* ordered.inOrder(true);
}

/** For each rank: first one node of each site, then the second one of each, and so on. */
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
 * Returns the wave of each node as an index into `waveNames`, in the order of their updates. A wave with a limited
 * number of nodes takes the lowest ranks, spread over the sites, and among equals by hash. A node that joins or leaves
 * then moves at most one other. Yields, because tens of thousands of nodes take most of a second.
 */
export function* assignWavesStepwise(
  nodes: readonly PlannedNode[],
  waves: readonly RolloutWave[],
  { seed, revision = '', spreadBy }: AssignmentOptions,
): Walk<Map<string, number>> {
  const assigned = new Map<string, number>();
  let left = yield* sorted(nodes, seed);
  for (const [index, wave] of waves.entries()) {
    const { matches } = compileLabelSelector(wave.nodeSelector ?? {});
    const room = wave.nodes === undefined ? left.length : scaledAmount(wave.nodes, nodes.length, Math.ceil);
    const matching = yield* chosen(left, ({ labels }) => matches(labels));
    const ordered = wave.draw === 'Reshuffled' ? yield* sorted(matching, `${seed}/${revision}`) : matching;
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
