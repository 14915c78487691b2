/** Status and conditions of a Deployment (pkg/controller/deployment/{sync,progress}.go). */
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '../../../shared/kube/workloads/workload-types.js';
import { budgets, type ReplicaSets, sizeOf } from './deployment-replicas.js';

const NEW_AVAILABLE = 'NewReplicaSetAvailable';
const TIMED_OUT = 'ProgressDeadlineExceeded';
/** Upstream's "no deadline". */
const NO_DEADLINE = 2_147_483_647;

/** `now` in ms since the epoch, and as text. */
interface StatusTime {
  now: number;
  stamp: string;
}

type News = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>;
type Conditions = readonly DeploymentCondition[];

/** Keeps a condition of the same status and reason, so that its update time stays. */
export function setCondition(conditions: Conditions, news: News, stamp: string): Conditions {
  const present = findCondition(conditions, news.type);
  if (present?.status === news.status && present.reason === news.reason) return conditions;
  const lastTransitionTime = present?.status === news.status ? (present.lastTransitionTime ?? stamp) : stamp;
  const others = conditions.filter(({ type }) => type !== news.type);
  return [...others, { ...news, lastUpdateTime: stamp, lastTransitionTime }];
}

function progressing(status: News['status'], reason: string, message: string): News {
  return { type: 'Progressing', status, reason, message };
}

function without(conditions: Conditions, removed: string): Conditions {
  return conditions.filter(({ type }) => type !== removed);
}

function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_DEADLINE;
}

function progressOf(conditions: Conditions): DeploymentCondition | undefined {
  return findCondition(conditions, 'Progressing');
}

/** All Pods are of the current template and available, and no others exist. */
export function isComplete({ metadata, spec }: Deployment, status: DeploymentStatus): boolean {
  const desired = spec.replicas ?? 0;
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Returns when the progress deadline ends, in ms since the epoch; undefined if it does not run. */
export function progressDeadline(deployment: Deployment, conditions: Conditions): number | undefined {
  const present = progressOf(conditions);
  if (!hasDeadline(deployment) || !present?.lastUpdateTime || deployment.spec.paused) return undefined;
  if (present.reason === NEW_AVAILABLE || present.reason === TIMED_OUT) return undefined;
  return Date.parse(present.lastUpdateTime) + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000;
}

/** Returns the counts and the condition Available (calculateStatus). */
function counted(deployment: Deployment, { current, old }: ReplicaSets, stamp: string): DeploymentStatus {
  const all = current ? [current, ...old] : old;
  const total = (count: (one: ReplicaSet) => number) => all.reduce((sum, one) => sum + count(one), 0);
  const available = total(({ status }) => status?.availableReplicas ?? 0);
  const ready = total(({ status }) => status?.readyReplicas ?? 0);
  const replicas = total(({ status }) => status?.replicas ?? 0);
  const updated = current?.status?.replicas ?? 0;
  const unavailable = Math.max(0, total(sizeOf) - available);
  const isAvailable = available >= (deployment.spec.replicas ?? 0) - budgets(deployment).maxUnavailable;
  const news: News = isAvailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
  return {
    ...(deployment.metadata.generation && { observedGeneration: deployment.metadata.generation }),
    ...(replicas > 0 && { replicas }),
    ...(updated > 0 && { updatedReplicas: updated }),
    ...(ready > 0 && { readyReplicas: ready }),
    ...(available > 0 && { availableReplicas: available }),
    ...(unavailable > 0 && { unavailableReplicas: unavailable }),
    ...(deployment.status?.collisionCount === undefined
      ? {}
      : { collisionCount: deployment.status.collisionCount }),
    conditions: [...setCondition(deployment.status?.conditions ?? [], news, stamp)],
  };
}

/** Returns the condition Progressing as a pause or its end leaves it (checkPausedConditions). */
function pausedCondition({ spec }: Deployment, present: DeploymentCondition | undefined): News | undefined {
  if (present?.reason === TIMED_OUT) return undefined;
  if (spec.paused && present?.reason !== 'DeploymentPaused') {
    return progressing('Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
  if (!spec.paused && present?.reason === 'DeploymentPaused') {
    return progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed');
  }
  return undefined;
}

/** Returns the condition Progressing of a rollout (syncRolloutStatus). */
function rolloutConditions(
  deployment: Deployment,
  next: DeploymentStatus,
  current: ReplicaSet | undefined,
  { now, stamp }: StatusTime,
): Conditions {
  const conditions = next.conditions ?? [];
  const subject = current
    ? `ReplicaSet "${current.metadata.name}"`
    : `Deployment "${deployment.metadata.name}"`;
  const present = progressOf(conditions);
  if (present?.reason === NEW_AVAILABLE && (next.replicas ?? 0) === (next.updatedReplicas ?? 0))
    return conditions;
  if (isComplete(deployment, next)) {
    return setCondition(
      conditions,
      progressing('True', NEW_AVAILABLE, `${subject} has successfully progressed.`),
      stamp,
    );
  }
  if (hasProgressed(deployment.status ?? {}, next)) {
    const news = progressing('True', 'ReplicaSetUpdated', `${subject} is progressing.`);
    // The update time must move although status and reason stay.
    const kept = present?.status === 'True' ? present.lastTransitionTime : undefined;
    const others = without(conditions, 'Progressing');
    return [...others, { ...news, lastUpdateTime: stamp, lastTransitionTime: kept ?? stamp }];
  }
  const deadline = progressDeadline(deployment, conditions);
  if (deadline === undefined || now <= deadline) return conditions;
  return setCondition(
    conditions,
    progressing('False', TIMED_OUT, `${subject} has timed out progressing.`),
    stamp,
  );
}

function failureOf({ current, old }: ReplicaSets): News | undefined {
  const failures = [...(current ? [current] : []), ...old].flatMap(
    ({ status }) => findCondition(status?.conditions, 'ReplicaFailure') ?? [],
  );
  const [{ type, status, reason, message } = {}] = failures as Partial<DeploymentCondition>[];
  return type && status ? { type, status, reason: reason ?? '', message: message ?? '' } : undefined;
}

/** `first`: what happened to the current ReplicaSet, if the condition Progressing does not exist yet. */
export function deploymentStatus(
  deployment: Deployment,
  replicaSets: ReplicaSets,
  time: StatusTime,
  first?: News,
): DeploymentStatus {
  const next = counted(deployment, replicaSets, time.stamp);
  let conditions: Conditions = next.conditions ?? [];
  if (!hasDeadline(deployment)) conditions = without(conditions, 'Progressing');
  else {
    const pause = pausedCondition(deployment, progressOf(conditions));
    if (first) conditions = setCondition(conditions, first, time.stamp);
    if (pause) conditions = setCondition(conditions, pause, time.stamp);
    if (!deployment.spec.paused) {
      const counts = { ...next, conditions: [...conditions] };
      conditions = rolloutConditions(deployment, counts, replicaSets.current, time);
    }
  }
  const failure = failureOf(replicaSets);
  conditions = failure
    ? setCondition(conditions, failure, time.stamp)
    : without(conditions, 'ReplicaFailure');
  return { ...next, conditions: [...conditions] };
}

/** Returns the condition for the current ReplicaSet that was created, found, or could not be created. */
export function replicaSetNews(what: 'created' | 'found' | { error: string }, name: string): News {
  if (what === 'created')
    return progressing('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`);
  if (what === 'found') return progressing('True', 'FoundNewReplicaSet', `Found new replica set "${name}"`);
  return progressing(
    'False',
    'ReplicaSetCreateError',
    `Failed to create new replica set "${name}": ${what.error}`,
  );
}
