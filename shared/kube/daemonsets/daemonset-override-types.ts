/** fleet.everynode.dev/v1 DaemonSetOverride: changes of a DaemonSet's Pods on the hosts that it selects. */
import type { KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';
import type { SpecHistoryStatus } from '../objects/spec-history.js';
import type { EnvVar, ResourceList } from '../pods/pod-types.js';
import type { Volume } from '../pods/volume-types.js';

/**
 * Annotation of a Pod: identifies the changes that overrides made. Absent: none. A Pod with another text than its node
 * would get now is outdated.
 */
export const OVERRIDES_ANNOTATION = 'fleet.everynode.dev/overrides';

/** Fields of one container of the template, or of one init container. All other fields stay those of the template. */
export interface ContainerOverride {
  name: string;
  image?: string;
  /** Replaces single requests and limits. */
  resources?: { limits?: ResourceList; requests?: ResourceList };
  /** Replaces whole variables by name, and adds variables. */
  env?: EnvVar[];
}

export interface DaemonSetOverrideSpec {
  /** A DaemonSet in the namespace of the override. */
  daemonSetName: string;
  /** Absent: all hosts. */
  nodeSelector?: LabelSelector;
  /** For one field on one host, the override with the highest priority wins. Default: 0. */
  priority?: number;
  containers?: ContainerOverride[];
  /** Replaces whole volumes of the template by name. */
  volumes?: Volume[];
}

export interface DaemonSetOverride extends KubeObject {
  spec: DaemonSetOverrideSpec;
  status?: SpecHistoryStatus;
}
