/** An API over objects with unique names, so that a response with such a name shows a leak. */
import { DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import { CreateRefusals } from '../../../coordinator/controllers/daemonsets/create-refusals.js';
import { ManifestPlanner } from '../../../coordinator/controllers/plan/manifest-planner.js';
import { ActiveRollouts } from '../../../coordinator/controllers/rollouts/rollout-constraints.js';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { HostChangePreview } from '../../../coordinator/controllers/views/host-change-preview.js';
import { HostIndex } from '../../../coordinator/controllers/views/host-index.js';
import { PolicyCalendars } from '../../../coordinator/controllers/views/policy-calendars.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import {
  configMapKind,
  daemonSetKind,
  eventKind,
  namespaceKind,
  nodeKind,
  podKind,
  rolloutKind,
  rolloutPolicyKind,
  secretKind,
  serviceAccountKind,
} from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { nodeObject } from '../objects/object-builders.js';
import { type AccessFixture, type AccessFixtureDeps, startAccessFixture } from './access-fixture.js';
import { NO_STREAMS } from './api-fixture.js';
import { MemoryAuditLog } from './audit-memory.js';

export const NAMESPACES = ['alpha', 'beta', 'gamma'] as const;

export const NODES = ['n1', 'n2'] as const;

/** Resources with one marked object per namespace. */
const MARKED: Readonly<Record<string, Kind>> = {
  configmaps: configMapKind as Kind,
  daemonsets: daemonSetKind as Kind,
  events: eventKind as Kind,
  pods: podKind as Kind,
  rollouts: rolloutKind as Kind,
  rolloutpolicies: rolloutPolicyKind as Kind,
  secrets: secretKind as Kind,
  serviceaccounts: serviceAccountKind as Kind,
};

/** Returns the name of the resource's marked object in a namespace. A Rollout has the name of its DaemonSet. */
export function markedName(resource: string, namespace: string): string {
  return `the-${resource === 'rollouts' ? 'daemonsets' : resource}-in-${namespace}`;
}

/** Returns all marked names of a namespace. */
export function markedNames(namespace: string): string[] {
  return [...new Set(Object.keys(MARKED).map((resource) => markedName(resource, namespace)))];
}

/** Starts the API. No controller changes its objects. */
export async function startMarkedFleet(): Promise<AccessFixture> {
  const fixture = await startAccessFixture((parts) => ({
    ...partsOfFleet(parts),
    audit: new MemoryAuditLog(),
    settings: { ...DEFAULT_API_SETTINGS, clientLimits: { requestsPerSecond: 0, burst: 0 } },
  }));
  for (const name of NODES) await fixture.registry.create(nodeKind, undefined, nodeObject(name));
  for (const namespace of NAMESPACES) await fill(fixture.registry, namespace);
  await fixture.settled();
  return fixture;
}

function partsOfFleet({ registry, informers, clock }: AccessFixtureDeps) {
  const rollouts = new ActiveRollouts();
  for (const namespace of NAMESPACES) {
    const stance = { code: 'Failed', wave: 'first', message: 'it has failed' } as const;
    rollouts.set({ namespace, name: markedName('rollouts', namespace) }, { stanceOf: () => stance });
  }
  return {
    explainer: new DaemonSetExplainer({ informers, clock, rollouts, refusals: new CreateRefusals() }),
    hosts: new HostIndex({
      ...{ informers, clock },
      liveness: { awaitingSince: () => undefined, onChange: () => undefined },
    }),
    planner: new ManifestPlanner({ registry, informers, clock }),
    hostEffects: new HostChangePreview({ informers, clock }),
    calendars: new PolicyCalendars({ informers, clock }),
    joinFacts: () => Promise.reject(new Error('the fleet has no address')),
    streams: { ...NO_STREAMS, open: async () => usageOfAll(informers) },
  };
}

/** The usage that every host reports, as if it ran all Pods. */
async function* usageOfAll(informers: Pick<Informers, 'pods'>): AsyncGenerator<Uint8Array> {
  const use = { timeMs: 1, windowMs: 1, cpuMicro: 1, memoryBytes: 1 };
  const pods = [...informers.pods.list()].map(({ metadata }) => ({
    uid: metadata.uid ?? '',
    containers: [{ name: 'main', ...use }],
  }));
  yield Buffer.from(JSON.stringify({ node: use, pods }));
}

/**
 * Stores the objects behind computed responses: a DaemonSet with a policy, and a Pod of it that fails on the first
 * node.
 */
async function fill(registry: Registry, namespace: string): Promise<void> {
  const named = (resource: string) => ({ metadata: { name: markedName(resource, namespace) } });
  const labels = { app: 'marked' };
  const spec = {
    containers: [{ name: 'main', image: 'app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
  };
  await registry.create(namespaceKind, undefined, { metadata: { name: namespace } });
  for (const resource of ['configmaps', 'secrets', 'serviceaccounts'] as const) {
    const kind = MARKED[resource];
    if (kind) await registry.create(kind, namespace, named(resource));
  }
  const daemonSet = await registry.create(daemonSetKind, namespace, {
    ...named('daemonsets'),
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  await registry.create(rolloutPolicyKind, namespace, {
    ...named('rolloutpolicies'),
    spec: { selector: {}, waves: [{ name: 'first', nodes: 1 }] },
  });
  await registry.create(rolloutKind, namespace, named('rollouts'));
  const { name, uid } = daemonSet.object().metadata;
  const pod = named('pods');
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true };
  await registry.create(podKind, namespace, {
    metadata: { ...pod.metadata, labels, ownerReferences: [owner] },
    spec: { ...spec, nodeName: NODES[0] },
  });
  const ref = { namespace, name: pod.metadata.name };
  await registry.modify(podKind, ref, failing, { subresource: 'status' });
  await registry.create(eventKind, namespace, {
    ...named('events'),
    involvedObject: { kind: 'Pod', namespace, name: pod.metadata.name },
    reason: 'Failed',
    type: 'Warning',
  });
}

function failing(pod: Pod): undefined {
  const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } };
  const status = { name: 'main', ready: false, restartCount: 3, image: 'app:1', imageID: '', state };
  pod.status = { ...pod.status, phase: 'Running', containerStatuses: [status] };
}
