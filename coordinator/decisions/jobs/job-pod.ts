/** Makes the Pods of a Job (`pkg/controller/job/indexed_job_utils.go`). */
import {
  COMPLETION_INDEX,
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURES,
  isIndexed,
  JOB_TRACKING,
  type Job,
} from '../../../shared/kube/jobs/job-types.js';
import type { OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';

/** A Pod to create. `index` is set for an indexed Job, and the failures for one with backoffLimitPerIndex. */
export interface NewJobPod {
  index?: number;
  failures?: { counted: number; ignored: number };
}

/** The random suffix of a generated name needs five of 63 characters. */
const LONGEST_PREFIX = 58;
const MAX_INT32 = 2 ** 31 - 1;
const INDEX_ENV = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } },
};

/** Returns the owner reference of a Job's Pods. */
function jobOwner({ metadata }: Job): OwnerReference {
  const { name, uid = '' } = metadata;
  return { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true };
}

/** Returns the completion index of a Pod, or undefined if it has none. */
export function completionIndexOf({ metadata }: Pick<Pod, 'metadata'>): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the count in an annotation of a Pod. Users can edit it: anything but a number from 0 counts as 0. */
export function failuresBefore({ metadata }: Pick<Pod, 'metadata'>, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? '';
  const count = /^\+?\d+$/.test(text) ? Number(text) : 0;
  return count > MAX_INT32 ? 0 : count;
}

/** Returns an unbound Pod. It shares objects with the template. */
export function jobPod(job: Job, { index, failures }: NewJobPod): Pod {
  const { metadata = {}, spec } = job.spec.template;
  const suffix = `-${index}-`;
  const indexed = index === undefined ? undefined : String(index);
  const annotations = {
    ...metadata.annotations,
    ...(indexed !== undefined && { [COMPLETION_INDEX]: indexed }),
    ...(failures && { [INDEX_FAILURE_COUNT]: String(failures.counted) }),
    ...(failures && failures.ignored > 0 && { [INDEX_IGNORED_FAILURES]: String(failures.ignored) }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: '',
      // A long name must not cut off the index.
      generateName:
        index === undefined
          ? `${job.metadata.name}-`
          : `${job.metadata.name.slice(0, LONGEST_PREFIX - suffix.length)}${suffix}`,
      ...(job.metadata.namespace && { namespace: job.metadata.namespace }),
      labels: { ...metadata.labels, ...(indexed !== undefined && { [COMPLETION_INDEX]: indexed }) },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      finalizers: [...new Set([...(metadata.finalizers ?? []), JOB_TRACKING])],
      ownerReferences: [jobOwner(job)],
    },
    spec: isIndexed(job.spec)
      ? {
          ...spec,
          hostname: `${job.metadata.name}-${indexed}`,
          containers: spec.containers.map(withIndex),
          ...(spec.initContainers && { initContainers: spec.initContainers.map(withIndex) }),
        }
      : spec,
  };
}

/** A variable of the user with this name stays. */
function withIndex(container: Container): Container {
  const { env = [] } = container;
  return env.some(({ name }) => name === INDEX_ENV.name)
    ? container
    : { ...container, env: [...env, INDEX_ENV] };
}
