/** Makes a host's Pod of a DaemonJob, and reads what its controller wrote on it. */
import { START_ANNOTATION, type StartRules } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  ATTEMPT_ANNOTATION,
  DAEMON_JOB_LABEL,
  DAEMON_JOB_TRACKING,
  type DaemonJob,
  RUN_ANNOTATION,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import {
  controllerOf,
  FLEET_GROUP,
  type KubeObject,
  type OwnerReference,
} from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPodOn, daemonTolerations } from '../daemonsets/daemon-pod.js';
import { attemptName } from './daemonjob-names.js';

/** Returns the owner reference of a DaemonJob's Pods and results. */
export function daemonJobOwner({ metadata: { name, uid = '' } }: DaemonJob): OwnerReference {
  return {
    apiVersion: `${FLEET_GROUP}/v1`,
    kind: 'DaemonJob',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** True if the job controls the object. A user can copy the job's uid into an object of another namespace. */
export function isOwnedBy({ metadata }: KubeObject, job: KubeObject): boolean {
  const owner = controllerOf(metadata);
  const { uid, namespace } = job.metadata;
  return owner?.kind === 'DaemonJob' && owner.uid === uid && metadata.namespace === namespace;
}

/** Returns an unbound Pod that is pinned to the node like a DaemonSet's. It shares objects with the template. */
export function daemonJobPod(job: DaemonJob, nodeName: string, attempt: number, rules?: StartRules): Pod {
  const {
    metadata: { namespace, name },
  } = job;
  const { metadata = {}, spec } = job.spec.template;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: attemptName(name, nodeName, attempt),
      ...(namespace && { namespace }),
      labels: { ...metadata.labels, [DAEMON_JOB_LABEL]: name },
      annotations: {
        ...metadata.annotations,
        [ATTEMPT_ANNOTATION]: String(attempt),
        [RUN_ANNOTATION]: String(runOf(job)),
        ...(rules && { [START_ANNOTATION]: JSON.stringify(rules) }),
      },
      finalizers: [...(metadata.finalizers ?? []), DAEMON_JOB_TRACKING],
      ownerReferences: [daemonJobOwner(job)],
    },
    spec: { ...spec, tolerations: daemonTolerations(spec) },
  };
  return daemonPodOn(pod, nodeName);
}

/** Returns the number of the Pod among the Pods of its host. */
export function attemptOf(pod: Pod): number {
  return numberIn(pod, ATTEMPT_ANNOTATION);
}

/** Returns the run for which the Pod was created. */
export function runOfPod(pod: Pod): number {
  return numberIn(pod, RUN_ANNOTATION);
}

/** An unreadable annotation counts as 0: the Pod still counts as an attempt. */
function numberIn({ metadata }: Pod, annotation: string): number {
  return Number.parseInt(metadata.annotations?.[annotation] ?? '0', 10) || 0;
}

/** True if no container of the Pod runs or can start any more. */
export function hasEnded(pod: Pod): boolean {
  if (isPodTerminal(pod)) return true;
  // With a grace period of zero the host has confirmed that no container is left.
  return pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0;
}

/** True if the Pod was deleted before it had a node. No host has received it, so it is no attempt. */
export function isWithdrawn({ metadata, spec }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && !spec.nodeName;
}

/** True if the end of the Pod may still have to be counted. */
export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(DAEMON_JOB_TRACKING) === true;
}
