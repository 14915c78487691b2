/**
 * Upstream's complete pass over one DaemonSet: each node's step and, if no node needs one, the rolling update
 * (pkg/controller/daemon syncDaemonSet). Tests compare the controllers, which work node by node, with this pass.
 */
import type { DaemonNode } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import { isIdle, nodeStep, type StepSpec } from '../../../coordinator/decisions/daemonsets/node-step.js';
import {
  chooseReplacements,
  type Fleet,
  NODE_UPDATE_STATES,
  type NodeUpdateState,
  type NodeUpdateStatus,
  nodeUpdateStatus,
} from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import { isRollingUpdate } from '../../../coordinator/decisions/daemonsets/update-strategy.js';

/** Names of Pods to delete, and of nodes to create a Pod on. */
interface SyncPass {
  step: 'manage' | 'rollingUpdate' | 'none';
  deletePods: string[];
  createOnNodes: string[];
}

/** A snapshot of the whole fleet. */
interface SyncPassInput {
  nodes: readonly DaemonNode[];
  spec: StepSpec;
  /** Revision hash of the current template. */
  hash: string;
  /** In ms since the epoch. */
  now: number;
}

/** Runs one pass. No failed Pod is in back-off. */
export function syncPass(input: SyncPassInput): SyncPass {
  const managed = manage(input);
  if (managed.step !== 'none' || !isRollingUpdate(input.spec.updateStrategy)) return managed;
  return rollingUpdate(input);
}

function manage({ nodes, spec, hash, now }: SyncPassInput): SyncPass {
  const steps = nodes.map((node) => ({ node, step: nodeStep({ node, spec, current: { hash }, now }) }));
  const acting = steps.filter(({ step }) => !isIdle(step));
  return {
    step: acting.length > 0 ? 'manage' : 'none',
    deletePods: acting.flatMap(({ step }) => step.delete.map(({ name }) => name)),
    createOnNodes: acting.filter(({ step }) => step.create).map(({ node }) => node.name),
  };
}

function emptySets(): Record<NodeUpdateState, Set<string>> {
  return Object.fromEntries(NODE_UPDATE_STATES.map((situation) => [situation, new Set<string>()])) as Record<
    NodeUpdateState,
    Set<string>
  >;
}

function rollingUpdate({ nodes, spec, now }: SyncPassInput): SyncPass {
  const found = new Map<string, NodeUpdateStatus>();
  const sets = emptySets();
  let covered = 0;
  for (const node of nodes) {
    const situation = nodeUpdateStatus(node, spec.minReadySeconds ?? 0, now);
    if (!situation) continue;
    found.set(node.name, situation);
    sets[situation.state].add(node.name);
    if (situation.covered) covered += 1;
  }
  const desired = nodes.filter((node) => node.shouldRun).length;
  const fleet: Fleet = { desired, covered, nodes: sets };
  const { create, replace } = chooseReplacements(fleet, spec.updateStrategy);
  const deletePods = replace.flatMap((name) => found.get(name)?.oldPod ?? []);
  const idle = create.length === 0 && deletePods.length === 0;
  return { step: idle ? 'none' : 'rollingUpdate', deletePods, createOnNodes: create };
}
