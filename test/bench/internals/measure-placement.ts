/** Placement of 20 DaemonSets on a whole fleet, and of one changed node. */
import assert from 'node:assert/strict';
import {
  compilePlacement,
  type PlacementNode,
  type PlacementSpec,
} from '../../../coordinator/decisions/placement/placement.js';
import type { BenchContext } from '../bench-section.js';
import { compileBarePlacement } from '../floors/placement-closures.js';
import { PlacementIndex } from '../floors/placement-index.js';
import { mayRun } from '../floors/placement-oracle.js';
import { cpuMs, pairs } from '../paired-runs.js';
import { placementNode, placementNodes, placementSpecs } from './placement-fleet.js';

const DAEMON_SETS = 20;
const ROUNDS = 5;
/** Repeated changes of one label of one node: a single change is faster than the clock's resolution. */
const CHANGES = 5_000;

export async function measurePlacement({ quick, report }: BenchContext): Promise<void> {
  const nodes = placementNodes(quick ? 20_000 : 100_000);
  const specs = placementSpecs(DAEMON_SETS);
  const index = new PlacementIndex(nodes);
  checkAgainstOracle(index, nodes, specs);
  const scratch = await pairs(
    ROUNDS,
    () => cpuMs(() => sum(specs.map((spec) => index.count(spec)))),
    () => cpuMs(() => placeAll(nodes, specs)),
  );
  report({
    ...{ section: 'parts', number: '14', unit: 'CPU ms', goal: { kind: 'ratio', most: 2 } },
    ...{ name: `placement of ${DAEMON_SETS} DaemonSets on ${nodes.length} nodes`, ...scratch },
  });
  const bare = specs.map(compileBarePlacement);
  const ours = specs.map(compilePlacement);
  const changed = Array.from({ length: CHANGES }, (_, turn) => placementNode(turn, turn));
  const microseconds = async (decide: (node: PlacementNode) => void) =>
    ((await cpuMs(() => changed.forEach(decide))) * 1000) / CHANGES;
  const one = await pairs(
    ROUNDS,
    () => microseconds((node) => bare.filter((decide) => decide(node)).length),
    () => microseconds((node) => ours.filter((decide) => decide(node).shouldRun).length),
  );
  report({
    ...{ section: 'parts', number: '14', unit: 'µs CPU', goal: { kind: 'ratio', most: 4 } },
    ...{ name: `placement of ${DAEMON_SETS} DaemonSets on one changed node`, ...one },
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Calls the product's own decision for each node, like its controllers. */
function placeAll(nodes: readonly PlacementNode[], specs: readonly PlacementSpec[]): number {
  const decisions = specs.map(compilePlacement);
  return sum(decisions.map((decide) => nodes.filter((node) => decide(node).shouldRun).length));
}

function checkAgainstOracle(
  index: PlacementIndex,
  nodes: readonly PlacementNode[],
  specs: readonly PlacementSpec[],
): void {
  for (const spec of specs) {
    const bare = compileBarePlacement(spec);
    const ours = compilePlacement(spec);
    const expected = nodes.filter((node) => mayRun(node, spec));
    assert.ok(
      expected.length > 0 && expected.length < nodes.length,
      'a DaemonSet that matches some nodes only',
    );
    assert.equal(index.count(spec), expected.length);
    assert.deepEqual(nodes.filter(bare), expected);
    assert.deepEqual(
      nodes.filter((node) => ours(node).shouldRun),
      expected,
    );
  }
}
