/** fleet.everynode.dev/v1 Plan: what would happen if manifests were applied. Answered by the API, stored nowhere. */

/**
 * - `start`: the host gets its first Pod. `stop`: its Pod goes, and none follows. `replace`: one Pod follows another.
 * - `wait`: the host would change, and does not until a person, or the host itself, lets it.
 * - `keep`: it runs what it should. `none`: it runs nothing, and need not.
 */
export const HOST_ACTIONS = ['start', 'stop', 'replace', 'wait', 'keep', 'none'] as const;

/** One of `HOST_ACTIONS`. */
export type HostAction = (typeof HOST_ACTIONS)[number];

/** Actions by which a host changes, now or when it is let. */
export const CHANGING_ACTIONS: readonly HostAction[] = ['start', 'stop', 'replace', 'wait'];

export interface PlannedHost {
  node: string;
  action: HostAction;
  /** The reason code that the host has the moment after the apply. */
  code: string;
  /** The same in words; absent where the code says it all. */
  message?: string;
  /** Absent without a policy, and on hosts that are not eligible. */
  wave?: string;
  /** From the apply until the first Pod there is made or stopped; absent where none is. */
  startSeconds?: number;
  /** From the apply until the host is done; absent where that cannot be foreseen. */
  endSeconds?: number;
}

export interface PlannedWave {
  name: string;
  /** Eligible hosts in it, and those of them that change. */
  nodes: number;
  changes: number;
  /** From the apply until its first host changes, and until its last is done; absent where none does. */
  startSeconds?: number;
  endSeconds?: number;
  /** It opens only when somebody approves: times from here on suppose that this happens at once. */
  needsApproval?: boolean;
}

export interface DaemonSetPlan {
  namespace: string;
  name: string;
  /** What becomes of the object itself. */
  change: 'Create' | 'Update' | 'None';
  /** Hash of the template after the apply; `previous`: before, where that is another. */
  revision: string;
  previousRevision?: string;
  /** The policy that governs it after the apply. */
  policy?: string;
  /** All of it in one line. */
  sentence: string;
  counts: Record<HostAction, number>;
  /** Hosts by reason code, the moment after the apply: they add up to the fleet. */
  reasons: { code: string; count: number }[];
  /** In order; [] without a policy. */
  waves: PlannedWave[];
  /** From the apply until the last host is done; absent where nothing changes. */
  endSeconds?: number;
  /** What the times suppose. */
  assumptions: string[];
  /** Why the change would not come to its end by itself; absent: it would. */
  blockedBy?: string;
  /** By name. */
  hosts: PlannedHost[];
}

/** A manifest that the API would not take. */
interface RefusedManifest {
  kind: string;
  name: string;
  message: string;
}

export interface Plan {
  kind: 'Plan';
  apiVersion: string;
  /** `Blocked`: something is refused, or would not come to its end by itself. */
  verdict: 'NoChange' | 'Changes' | 'Blocked';
  daemonSets: DaemonSetPlan[];
  refused: RefusedManifest[];
  /** What the API would warn of, and manifests that change nothing on hosts. */
  notes: string[];
}

/** What a plan is asked for with: manifests as `kubectl apply` would send them, each with its apiVersion and kind. */
export interface PlanRequest {
  manifests: unknown[];
  /** Where a manifest names no namespace. */
  namespace?: string;
  /** `replace`: as `kubectl replace` would, so what a manifest does not name goes. Absent: `apply`. */
  mode?: 'apply' | 'replace';
}
