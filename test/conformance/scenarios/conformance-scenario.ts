/** The format of scenarios.json; ../cases/README.md explains each word. */

import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { ConformanceCase } from '../tables/conformance-table.js';

export interface ScenarioNode {
  name: string;
  labels?: Record<string, string>;
  taints?: Taint[];
  unschedulable?: boolean;
  conditions?: Condition[];
}

export const NODE_KEYS = ['name', 'labels', 'taints', 'unschedulable', 'conditions'];

export interface DaemonSetShorthand {
  name: string;
  image: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  updateStrategy?: DaemonSetUpdateStrategy;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  hostNetwork?: boolean;
  affinityIn?: { key: string; values: string[] };
  podsReady?: boolean;
}

export const DAEMON_SET_KEYS = [
  'name',
  'image',
  'labels',
  'annotations',
  'finalizers',
  'updateStrategy',
  'minReadySeconds',
  'revisionHistoryLimit',
  'nodeSelector',
  'tolerations',
  'hostNetwork',
  'affinityIn',
  'podsReady',
];

export interface Step {
  do: { action: string } & Record<string, unknown>;
  expect: Record<string, unknown>;
}

export interface Scenario extends ConformanceCase {
  nodes: ScenarioNode[];
  steps: Step[];
}

/** The label that connects the Pods, revisions and set of a shorthand. */
export const SET_LABEL = 'daemonset-name';
