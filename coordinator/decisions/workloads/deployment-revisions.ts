/** A Deployment's ReplicaSets as revisions of its template (pkg/controller/deployment/util). */
import type { OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import {
  DESIRED_REPLICAS_ANNOTATION,
  type Deployment,
  MAX_REPLICAS_ANNOTATION,
  POD_TEMPLATE_HASH_LABEL,
  REVISION_ANNOTATION,
  REVISION_HISTORY_ANNOTATION,
  type ReplicaSet,
} from '../../../shared/kube/workloads/workload-types.js';
import { revisionData, revisionHash } from '../daemonsets/template-revision.js';
import { budgets, oldestFirst, type ReplicaSets, sizeOf } from './deployment-replicas.js';

/** Upstream's maxRevHistoryLengthInChars. */
const MAX_HISTORY_CHARS = 2_000;

/** Annotations of a Deployment that its ReplicaSets do not inherit. */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION_ANNOTATION,
  REVISION_HISTORY_ANNOTATION,
  DESIRED_REPLICAS_ANNOTATION,
  MAX_REPLICAS_ANNOTATION,
]);

function templateText(template: PodTemplateSpec): string {
  const { [POD_TEMPLATE_HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return JSON.stringify(revisionData({ ...template, metadata: { ...template.metadata, labels } }));
}

/** True if the templates differ at most in the hash label. */
export function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return templateText(a) === templateText(b);
}

/** Of several ReplicaSets of the current template, the oldest one is current. */
export function splitReplicaSets(deployment: Deployment, replicaSets: readonly ReplicaSet[]): ReplicaSets {
  const text = templateText(deployment.spec.template);
  const current = oldestFirst(replicaSets).find((one) => templateText(one.spec.template) === text);
  return { current, old: replicaSets.filter((one) => one !== current) };
}

/** An invalid number counts as 0. So does one that is not exact: it would never equal the text that was written. */
function revisionOf({ metadata }: ReplicaSet): number {
  const text = metadata.annotations?.[REVISION_ANNOTATION] ?? '';
  const revision = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(revision) ? revision : 0;
}

/** Returns the number of the current revision: one above all others. */
export function nextRevision(old: readonly ReplicaSet[]): number {
  const highest = Math.max(0, ...old.map(revisionOf));
  return Math.min(highest + 1, Number.MAX_SAFE_INTEGER);
}

/** Returns the history with one more revision. The oldest ones are dropped, so that annotations keep their place. */
function longerHistory(history: string | undefined, revision: string): string {
  const revisions = [...(history ? history.split(',') : []), revision];
  let length = revisions.join(',').length;
  let first = 0;
  for (; length > MAX_HISTORY_CHARS && first < revisions.length - 1; first += 1) {
    length -= (revisions[first] ?? '').length + 1;
  }
  return revisions.slice(first).join(',');
}

function inherited({ metadata }: Deployment): Record<string, string> {
  const kept = Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_INHERITED.has(key));
  return Object.fromEntries(kept);
}

/** The annotations that a scale writes. */
export function scaleAnnotations(deployment: Deployment): Record<string, string> {
  const desired = deployment.spec.replicas ?? 0;
  return {
    [DESIRED_REPLICAS_ANNOTATION]: String(desired),
    [MAX_REPLICAS_ANNOTATION]: String(desired + budgets(deployment).maxSurge),
  };
}

/** Returns the annotations of the current ReplicaSet. A template that is used again gets a new revision number. */
export function revisionAnnotations(
  deployment: Deployment,
  current: ReplicaSet,
  revision: number,
): Record<string, string> {
  const present = current.metadata.annotations ?? {};
  const annotations = { ...present, ...inherited(deployment) };
  const before = revisionOf(current);
  if (before >= revision) return annotations;
  annotations[REVISION_ANNOTATION] = String(revision);
  if (before !== 0) {
    const history = present[REVISION_HISTORY_ANNOTATION];
    annotations[REVISION_HISTORY_ANNOTATION] = longerHistory(history, String(before));
  }
  return annotations;
}

/** Returns the ReplicaSet for the current template. `replicas`: its first size. */
export function newReplicaSet(
  deployment: Deployment,
  owner: OwnerReference,
  revision: number,
  replicas: number,
): ReplicaSet {
  const { metadata, spec, status } = deployment;
  const hash = revisionHash(spec.template, status?.collisionCount);
  const withHash = (labels: Record<string, string> | undefined) => ({
    ...labels,
    [POD_TEMPLATE_HASH_LABEL]: hash,
  });
  const labels = withHash(spec.template.metadata?.labels);
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
      labels,
      annotations: {
        ...inherited(deployment),
        [REVISION_ANNOTATION]: String(revision),
        ...scaleAnnotations(deployment),
      },
      ownerReferences: [owner],
    },
    spec: {
      replicas,
      ...(spec.minReadySeconds ? { minReadySeconds: spec.minReadySeconds } : {}),
      selector: { ...spec.selector, matchLabels: withHash(spec.selector.matchLabels) },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}

/** Returns the old ReplicaSets beyond the limit that have no Pods, lowest revision first (cleanupDeployment). */
export function replicaSetsToTrim(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] {
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  const excess = Math.max(0, alive.length - (deployment.spec.revisionHistoryLimit ?? 10));
  return [...alive]
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, excess)
    .filter(
      (one) =>
        sizeOf(one) === 0 &&
        (one.status?.replicas ?? 0) === 0 &&
        (one.metadata.generation ?? 0) <= (one.status?.observedGeneration ?? 0),
    );
}
