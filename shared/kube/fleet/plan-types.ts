/** fleet.everynode.dev/v1 Plan: a preview of applying manifests. Computed on request, never stored. */
import { FLEET_GROUP } from '../objects/meta.js';

/** Accepts POST only. It is here because the command line does not load the API. */
export const PLAN_PATH = `/apis/${FLEET_GROUP}/v1/plan`;

/**
 * - `start`: the host gets its first Pod.
 * - `stop`: the host's Pod is deleted without a replacement.
 * - `replace`: the host's Pod is replaced.
 * - `wait`: the host must change, but is blocked until an operator or the host itself allows the change.
 * - `keep`: the host already runs the desired Pod.
 * - `none`: the host runs no Pod and needs none.
 */
export const HOST_ACTIONS = ['start', 'stop', 'replace', 'wait', 'keep', 'none'] as const;

export type HostAction = (typeof HOST_ACTIONS)[number];

/** Actions that change a host, at once or later. */
export const CHANGING_ACTIONS: readonly HostAction[] = ['start', 'stop', 'replace', 'wait'];

export interface PlannedHost {
  node: string;
  action: HostAction;
  /** The host's reason code directly after the apply. */
  code: string;
  /** Details of the code as a sentence. Absent if the code is sufficient. */
  message?: string;
  /** Absent without a policy, and on hosts that are not eligible. */
  wave?: string;
  /** Time from the apply until the first Pod on the host is created or deleted. Absent if there is none. */
  startSeconds?: number;
  /** Time from the apply until the host is done. Absent if that is not foreseeable. */
  endSeconds?: number;
}

export interface PlannedWave {
  name: string;
  /** Number of eligible hosts in the wave, and number of those that change. */
  nodes: number;
  changes: number;
  /** Time from the apply until the first host changes and until the last one is done. Absent if no host changes. */
  startSeconds?: number;
  endSeconds?: number;
  /** True if the wave needs a manual approval. Times of this and later waves assume that it is given at once. */
  needsApproval?: boolean;
}

/**
 * A setting of a Pod that its host determines. `path`: a `fieldPath` such as `hostValues['store']`, or an overridden
 * field such as `containers[till].image`. Hosts are not grouped by a path with more than 20 different values: then only
 * the number of its values is given.
 */
export type PlannedSetting =
  | { path: string; value: string; from: string }
  | { path: string; distinctValues: number };

/** Hosts that would run Pods with the same images and settings. */
export interface PlannedVariant {
  /** Image by name of the container. */
  images: Record<string, string>;
  /** Sorted by path. Empty for a DaemonSet without host values and overrides. */
  settings: PlannedSetting[];
  /** Number of hosts, and number of those that change. */
  hosts: number;
  changes: number;
  /** The first hosts by name, at most 10. */
  nodes: string[];
}

export interface DaemonSetPlan {
  namespace: string;
  name: string;
  /** The change of the DaemonSet object. */
  change: 'Create' | 'Update' | 'None';
  /** Hash of the template after the apply. `previousRevision` is the hash before, if it differs. */
  revision: string;
  previousRevision?: string;
  policy?: string;
  /** Summary in one line. */
  sentence: string;
  counts: Record<HostAction, number>;
  /** Number of hosts by reason code directly after the apply. The sum is the size of the fleet. */
  reasons: { code: string; count: number }[];
  /** In order. Empty without a policy. */
  waves: PlannedWave[];
  /** Time from the apply until the last host is done. Absent if nothing changes. */
  endSeconds?: number;
  /** Assumptions behind the times. */
  assumptions: string[];
  /** Why the change would not complete without an operator. Absent if it would. */
  blockedBy?: string;
  /**
   * What eligible hosts would run at the end, the variant of most hosts first, at most 50. Hosts whose Pod cannot be
   * rendered are not in it: they keep their Pod and have the code `FailedCreate`. Empty if the caller may not read the
   * HostValues and DaemonSetOverrides of the namespace.
   */
  variants: PlannedVariant[];
  /** Variants beyond the limit, and the number of their hosts. Absent: all are listed. */
  otherVariants?: { variants: number; hosts: number };
  hosts: PlannedHost[];
}

/** A manifest that the API would reject. */
interface RefusedManifest {
  kind: string;
  name: string;
  message: string;
}

export interface Plan {
  kind: 'Plan';
  apiVersion: string;
  /** `Blocked`: a manifest is rejected, or a change would not complete without an operator. */
  verdict: 'NoChange' | 'Changes' | 'Blocked';
  daemonSets: DaemonSetPlan[];
  refused: RefusedManifest[];
  /** Warnings of the API, and manifests that change nothing on hosts. */
  notes: string[];
}

/** Manifests to preview, as `kubectl apply` sends them, each with apiVersion and kind. */
export interface PlanRequest {
  manifests: unknown[];
  /** Namespace of manifests that name none. */
  namespace?: string;
  /** `replace` works like `kubectl replace`: fields that a manifest omits are removed. Default: `apply`. */
  mode?: 'apply' | 'replace';
}
