/** Names of the Pods' log files, like the kubelet's (pkg/kubelet/kuberuntime/helpers.go, legacy.go). Pure. */
import { posix } from 'node:path';
import type { ContainerIdentity } from '../../runtime/runtime-driver.js';

/** Folder of the log files, below the directory of logs. */
export const PODS_FOLDER = 'pods';
/** Folder of the links to them. */
export const CONTAINERS_FOLDER = 'containers';

export interface PodLogPaths {
  /** `NAMESPACE_NAME_UID`. */
  pod: string;
  container: string;
  /** `ATTEMPT.log`. */
  file: string;
  /** `NAME_NAMESPACE_CONTAINER-ID.log`. */
  link: string;
}

const MAX_NAME_BYTES = 255;
const LINK_SUFFIX = '.log';
/** Names of Kubernetes' objects, and uids of static Pods. No such name contains `/` or `_`, or is `..`. */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/**
 * Returns undefined if a name is not one of a Kubernetes object, or if the file system cannot store the file's name.
 * The identity is read from labels, which another program with access to the engine can set.
 */
export function podLogPaths(identity: ContainerIdentity, id: string): PodLogPaths | undefined {
  const { podNamespace, podName, podUid, container, attempt } = identity;
  if (![podNamespace, podName, podUid, container, id].every((name) => NAME.test(name))) return undefined;
  if (!Number.isSafeInteger(attempt) || attempt < 0) return undefined;
  const pod = `${podNamespace}_${podName}_${podUid}`;
  if (pod.length > MAX_NAME_BYTES) return undefined;
  const link = `${podName}_${podNamespace}_${container}-${id}`.slice(0, MAX_NAME_BYTES - LINK_SUFFIX.length);
  return { pod, container, file: `${attempt}.log`, link: `${link}${LINK_SUFFIX}` };
}

/** Returns the target of the link: absolute, so that it resolves in a container that mounts the directory here. */
export function linkTarget(directory: string, { pod, container, file }: PodLogPaths): string {
  return posix.join(directory, PODS_FOLDER, pod, container, file);
}
