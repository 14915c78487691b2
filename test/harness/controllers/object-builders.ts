/** Objects as tests want them: only what matters is said. */
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';

export interface NodeOptions {
  labels?: Record<string, string>;
  taints?: Taint[];
  unschedulable?: boolean;
  cpu?: string;
  memory?: string;
  pods?: string;
  /** Status of the condition Ready. */
  ready?: 'True' | 'False' | 'Unknown';
}

/** A Ready node with 4 CPUs, 8 Gi and room for 110 Pods. */
export function nodeObject(name: string, options: NodeOptions = {}): Node {
  const { labels = {}, taints, unschedulable, cpu = '4', memory = '8Gi', pods = '110' } = options;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { ...(taints && { taints }), ...(unschedulable && { unschedulable }) },
    status: {
      allocatable: { cpu, memory, pods },
      capacity: { cpu, memory, pods },
      conditions: [{ type: 'Ready', status: options.ready ?? 'True' }],
    },
  };
}

/** An unbound Pod of one container. */
export function podObject(name: string, spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
  };
}

/** Required affinity to one node, as a DaemonSet's Pods have it. */
export function pinnedTo(node: string): Pick<PodSpec, 'affinity'> {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
    },
  };
}
