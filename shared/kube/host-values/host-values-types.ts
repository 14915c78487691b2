/** fleet.everynode.dev/v1 HostValues: values that differ from host to host, for the Pods of one namespace. */
import type { KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';
import type { SpecHistoryStatus } from '../objects/spec-history.js';

/** A value in a Secret of the same namespace. Only its name and key travel in a Pod. */
export interface SecretValue {
  secretKeyRef: { name: string; key: string };
}

export type HostValue = string | SecretValue;

export interface HostValuesSpec {
  /** For one key on one host, the object with the highest priority wins. Default: 0. */
  priority?: number;
  /** Hosts for `values` and `secrets`. Absent: all hosts. */
  nodeSelector?: LabelSelector;
  values?: Record<string, string>;
  /** Values in Secrets, by key. */
  secrets?: Record<string, { name: string; key: string }>;
  /** Values of single hosts, by the name of the Node. They win over `values` and `secrets` of equal priority. */
  hosts?: Record<string, Record<string, string>>;
}

export interface HostValues extends KubeObject {
  spec: HostValuesSpec;
  status?: SpecHistoryStatus;
}
