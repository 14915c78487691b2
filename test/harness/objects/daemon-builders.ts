/** Builders for DaemonSets, nodes and the decisions' view of both: a case names only what it is about. */
import type { DaemonNode, DaemonPod } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import type { DaemonSet, DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';

/** A running, ready Pod of the current revision "new"; its name is its own. */
export function daemonPodView(name: string, over: Partial<DaemonPod> = {}): DaemonPod {
  return {
    name,
    scheduled: true,
    createdAt: 0,
    phase: 'Running',
    terminating: false,
    ready: true,
    readySince: 0,
    hash: 'new',
    updated: true,
    ...over,
  };
}

/** Makes a Pod one of an older revision. */
export const OLD: Partial<DaemonPod> = { hash: 'old', updated: false };

/** An eligible node with these Pods. */
export function daemonNodeView(pods: DaemonPod[], over: Partial<DaemonNode> = {}): DaemonNode {
  return { name: 'n1', exists: true, shouldRun: true, shouldContinueRunning: true, pods, ...over };
}

/** A DaemonSet as the API would have it after defaulting: one container `app`, selector `app=<name>`. */
export function daemonSet(name: string, spec: Partial<DaemonSetSpec> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1 },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'app:1' }] },
      },
      ...spec,
    },
  };
}
