/** Which node is updated in which wave of a RolloutPolicy. The same nodes, labels and policy give the same waves. */
import type { IntOrString } from '../../shared/kube/int-or-string.js';
import { REST_WAVE, type RolloutWave } from '../../shared/kube/rollout-policy.js';
import { compileLabelSelector, type Labels } from '../../shared/kube/selectors.js';

/** A node that the DaemonSet may run on. */
export interface PlannedNode {
  name: string;
  labels?: Labels | undefined;
  /** The lower the sooner: those that have the revision already, then the healthiest. Absent: 0. */
  rank?: number;
}

/** By what waves are drawn, besides the nodes. */
export interface DrawOptions {
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
export interface HeldRevisions {
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
export function rankOf(
  { hashes, newPodAt }: HeldRevisions,
  { hash, stable, startedAt }: RankedRevision,
  health: number,
): number {
  if (startedAt !== undefined && newPodAt !== undefined && newPodAt >= startedAt) return -2;
  return hashes.some((one) => one !== stable && one !== hash) ? -1 : health;
}

/** `5` as it is, `"5%"` of `total` by `round`; what is neither counts as 0. */
export function amountOf(value: IntOrString, total: number, round: (share: number) => number): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+)%$/.exec(value);
  return match ? round((Number(match[1]) * total) / 100) : 0;
}

/** All waves by name, the last one for the rest. */
export function waveNames(waves: readonly RolloutWave[]): string[] {
  return [...waves.map(({ name }) => name), REST_WAVE];
}

interface Lot extends PlannedNode {
  lot: number;
}

function drawn(nodes: readonly PlannedNode[], seed: string): Lot[] {
  const start = mixed(FNV_OFFSET, seed);
  const rankOf = ({ rank = 0 }: PlannedNode) => rank;
  return nodes
    .map((node) => ({ ...node, lot: lot(start, node.name) }))
    .sort((a, b) => rankOf(a) - rankOf(b) || a.lot - b.lot || (a.name < b.name ? -1 : 1));
}

/** Of each rank first one node of each site, then the second of each; otherwise in the order given. */
function spread(nodes: readonly Lot[], spreadBy: string | undefined): readonly Lot[] {
  if (spreadBy === undefined) return nodes;
  const taken = new Map<string, number>();
  const rounds = new Map<number, Map<number, Lot[]>>();
  for (const node of nodes) {
    const { rank = 0 } = node;
    const site = node.labels?.[spreadBy] ?? '';
    const round = taken.get(site) ?? 0;
    taken.set(site, round + 1);
    const ofRank = rounds.get(rank) ?? new Map<number, Lot[]>();
    rounds.set(rank, ofRank);
    const ofRound = ofRank.get(round);
    if (ofRound) ofRound.push(node);
    else ofRank.set(round, [node]);
  }
  return [...rounds.values()].flatMap((ofRank) =>
    [...ofRank].sort(([a], [b]) => a - b).flatMap(([, ofRound]) => ofRound),
  );
}

/**
 * The wave of each node, by index into `waveNames`, in the order in which a wave's nodes should have their turns. Where a
 * wave takes a part, it takes the lowest ranks, spread over the sites, and among equals by lot: a node that joins or leaves
 * moves at most one other.
 */
export function assignWaves(
  nodes: readonly PlannedNode[],
  waves: readonly RolloutWave[],
  { seed, revision = '', spreadBy }: DrawOptions,
): Map<string, number> {
  const assigned = new Map<string, number>();
  let left = drawn(nodes, seed);
  for (const [index, wave] of waves.entries()) {
    const { matches } = compileLabelSelector(wave.nodeSelector ?? {});
    const room = wave.nodes === undefined ? left.length : amountOf(wave.nodes, nodes.length, Math.ceil);
    const matching = left.filter(({ labels }) => matches(labels));
    const ordered = wave.draw === 'Anew' ? drawn(matching, `${seed}/${revision}`) : matching;
    for (const { name } of spread(ordered, spreadBy).slice(0, room)) assigned.set(name, index);
    left = left.filter(({ name }) => !assigned.has(name));
  }
  for (const { name } of spread(left, spreadBy)) assigned.set(name, waves.length);
  return assigned;
}
