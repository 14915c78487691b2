/** What the API asks of whoever knows why a DaemonSet runs where. A reader of the informers fits it. */
import type { ObjectRef } from '../../shared/kube/meta.js';

/** One placement rule's outcome on one node. */
export interface ExplainedRule {
  /** `NodeName`, `NodeSelector`, `NodeAffinity`, `Taints`, in this order. */
  rule: string;
  passed: boolean;
  /** What it looked at, in words. */
  detail: string;
}

/** Why, on one node. */
export interface ExplainedNode {
  /** Stable: one of REASON_CODES (`decisions/reason-code.ts`). */
  code: string;
  /** What, why, what to do: for people, and free to change. */
  sentence: string;
  /** Name of the Pod that the code is about; absent when there is none. */
  pod?: string;
  /** [] when there is no such Node (any more). */
  rules: readonly ExplainedRule[];
}

/** Why, over the fleet. Each node stands under exactly one code, so the counts add up to `total`. */
export interface ExplainedFleet {
  sentence: string;
  /** Nodes that exist, and those that only Pods of the DaemonSet still name. */
  total: number;
  /** Codes that some node has, in the order of REASON_CODES; names of nodes sorted. */
  reasons: readonly { code: string; count: number; nodes: readonly string[] }[];
}

export interface Explain {
  /** Throws ApiError 404 for an unknown DaemonSet or node. */
  explainNode(daemonSet: ObjectRef, node: string): ExplainedNode;
  /** Throws ApiError 404 for an unknown DaemonSet. */
  explainFleet(daemonSet: ObjectRef): Promise<ExplainedFleet>;
}
