/** Which node is updated in which wave of a RolloutPolicy. The same nodes, labels and policy give the same waves. */
import type { IntOrString } from '../../shared/kube/int-or-string.js';
import { REST_WAVE, type RolloutWave } from '../../shared/kube/rollout.js';
import { compileLabelSelector, type Labels } from '../../shared/kube/selectors.js';

/** A node that the DaemonSet may run on. */
export interface PlannedNode {
  name: string;
  labels?: Labels | undefined;
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

/**
 * The wave of each node, by index into `waveNames`. Where a wave takes a part, it is drawn by lot from `seed` and the
 * nodes' names: a node that joins or leaves moves at most one other.
 */
export function assignWaves(
  nodes: readonly PlannedNode[],
  waves: readonly RolloutWave[],
  seed: string,
): Map<string, number> {
  const assigned = new Map<string, number>();
  const start = mixed(FNV_OFFSET, seed);
  let left = nodes
    .map(({ name, labels }) => ({ name, labels, lot: lot(start, name) }))
    .sort((a, b) => a.lot - b.lot || (a.name < b.name ? -1 : 1));
  for (const [index, wave] of waves.entries()) {
    const { matches } = compileLabelSelector(wave.nodeSelector ?? {});
    const room = wave.nodes === undefined ? left.length : amountOf(wave.nodes, nodes.length, Math.ceil);
    let taken = 0;
    left = left.filter(({ name, labels }) => {
      if (taken >= room || !matches(labels)) return true;
      taken += 1;
      assigned.set(name, index);
      return false;
    });
  }
  for (const { name } of left) assigned.set(name, waves.length);
  return assigned;
}
