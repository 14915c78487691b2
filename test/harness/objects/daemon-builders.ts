/** Builders of DaemonSets, nodes and their views in decisions. A case sets only the fields that matter to it. */
import type { DaemonNode, DaemonPod } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import type { DaemonSet, DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';

/** Returns a running, ready Pod of the current revision "new". */
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

/** Changes that give a Pod an older revision. */
export const OLD: Partial<DaemonPod> = { hash: 'old', updated: false };

/** Returns an eligible node with these Pods. */
export function daemonNodeView(pods: DaemonPod[], over: Partial<DaemonNode> = {}): DaemonNode {
  return { name: 'n1', exists: true, shouldRun: true, shouldContinueRunning: true, pods, ...over };
}

/** Returns a DaemonSet with API defaults: one container `app`, selector `app=<name>`. */
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
