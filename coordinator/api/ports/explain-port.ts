/** What the API asks of whoever knows why a DaemonSet runs where. A reader of the informers fits it. */
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';

/** One placement rule's outcome on one node. */
interface ExplainedRule {
  /** `NodeName`, `NodeSelector`, `NodeAffinity`, `Taints`, in this order. */
  rule: string;
  passed: boolean;
  /** What it looked at, in words. */
  detail: string;
}

/** Why, on one node. */
export interface ExplainedNode {
  /** Stable: one of REASON_CODES (`decisions/reasons/reason-code.ts`). */
  code: string;
  /** What, why, what to do: for people, and free to change. */
  sentence: string;
  /** Name of the Pod that the code is about; absent when there is none. */
  pod?: string;
  /** [] when there is no such Node (any more). */
  rules: readonly ExplainedRule[];
  failedCreate?: FailedCreate;
  /** How its rollout by waves counts the node; absent where no policy governs the DaemonSet. */
  rollout?: { code: string; wave: string };
}

/** Why, over the fleet. Each node stands under exactly one code, so the counts add up to `total`. */
export interface ExplainedFleet {
  sentence: string;
  /** Nodes that exist, and those that only Pods of the DaemonSet still name. */
  total: number;
  /** Codes that some node has, in the order of REASON_CODES; names of nodes sorted. */
  reasons: readonly { code: string; count: number; nodes: readonly string[] }[];
  failedCreate?: FailedCreate;
}

/** Creates of the DaemonSet's Pods that were refused since the last one that was accepted; absent: none. */
interface FailedCreate {
  /** Of the last one, in the API's words. */
  message: string;
  count: number;
  firstTime: string;
  lastTime: string;
}

/** Which hosts of a rollout, and how many at once. */
interface RolloutHostsQuery {
  /** Only these codes; [] = all. */
  codes: readonly string[];
  wave?: string;
  /** Names after this one. */
  after?: string;
  limit: number;
}

/** One host of a rollout. */
interface RolloutHost {
  node: string;
  /** One of ROLLOUT_CODES (`decisions/rollouts/host-rollout-code.ts`). */
  code: string;
  /** "" for a host that is not eligible. */
  wave: string;
  /** What, why, what to do. */
  sentence: string;
}

/** Hosts by name. */
export interface RolloutHostList {
  /** All that the wish means, on whatever page. */
  total: number;
  hosts: readonly RolloutHost[];
  /** The last name, where more follow. */
  continue?: string;
}

export interface Explainer {
  /** Throws ApiError 404 for an unknown DaemonSet or node. */
  explainNode(daemonSet: ObjectRef, node: string): ExplainedNode;
  /** Throws ApiError 404 for an unknown DaemonSet. */
  explainFleet(daemonSet: ObjectRef): Promise<ExplainedFleet>;
  /** Throws ApiError 404 for a DaemonSet that no policy governs, or whose rollout has not been looked at yet. */
  rolloutHosts(daemonSet: ObjectRef, wish: RolloutHostsQuery): Promise<RolloutHostList>;
}
