/** Builders of API objects. A test sets only the fields that matter to it. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import { setPodDefaults, setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { Pod, PodSpec, PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';

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

/** A Ready node with 4 CPUs, 8 Gi of memory and places for 110 Pods. */
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

/** An unbound Pod with one container, as a client sends it. */
export function podObject(name: string, spec: Partial<PodSpec> = {}, meta: object = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...meta },
    spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
  };
}

/** Required affinity to one node, as the DaemonSet controller sets it. */
export function pinnedTo(node: string): Pick<PodSpec, 'affinity'> {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
    },
  };
}

export function configMapObject(name: string, data: Record<string, string> = {}, meta: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...meta }, data };
}

/** A DaemonSet as a client sends it. */
export function daemonSetObject(name: string): Omit<DaemonSet, 'status'> {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } },
    },
  } as DaemonSet;
}

/** The Pod `p` in `default` with a client's spec, which may lack or misname fields, and upstream's defaults. */
export function podFrom(spec: object, metadata: object = {}): Pod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', ...metadata },
    spec: structuredClone(spec),
  } as Pod;
  setPodDefaults(pod);
  return pod;
}

/** Returns a spec with one container `c` of image `i`, changed by `fields`. */
export function oneContainer(fields: object = {}, spec: object = {}): object {
  return { containers: [{ name: 'c', image: 'i', ...fields }], ...spec };
}

/** The spec with the defaults of a template, which set neither requests nor host ports. */
export function templateSpec(spec: object): PodSpec {
  const template = { spec: structuredClone(spec) } as PodTemplateSpec;
  setPodTemplateDefaults(template);
  return template.spec;
}
