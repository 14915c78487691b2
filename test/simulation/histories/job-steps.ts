/** Users who run DaemonJobs, and the manifests that they write. */
import { daemonJobKind, daemonJobResultKind, podKind } from '../../../coordinator/kinds/index.js';
import {
  ATTEMPT_ANNOTATION,
  type DaemonJobSpec,
  daemonJobFinishedAs,
  RUN_ANNOTATION,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { changed, created, deleted, type Request, refOf, type UserDeps } from './api-request-steps.js';
import type { JobRules, JobStep } from './history.js';

/** Longer than a history of the clock needs to settle. */
const SOON_MS = 300_000;

export function jobRequests(step: JobStep, parts: UserDeps): Request[] {
  const change = (edit: (spec: DaemonJobSpec) => void): Request[] => [
    (registry) => changed(registry, daemonJobKind, refOf(step.name), ({ spec }) => edit(spec)),
  ];
  switch (step.kind) {
    case 'create job':
      return [
        (registry) =>
          created(registry, daemonJobKind, {
            metadata: { name: step.name },
            spec: jobSpec(step.job, parts.now()),
          }),
      ];
    case 'suspend job':
      return change((spec) => {
        spec.suspend = step.isSuspended;
      });
    case 'rerun job':
      return change((spec) => {
        spec.run = (spec.run ?? 1) + 1;
      });
    case 'set parallelism':
      return change((spec) => {
        spec.parallelism = step.parallelism;
      });
    case 'delete job':
      return [
        (registry) =>
          deleted(registry, daemonJobKind, refOf(step.name), parts, { propagationPolicy: step.policy }),
      ];
    case 'delete job result':
      return [
        (registry) => deleted(registry, daemonJobResultKind, refOf(`${step.name}.${step.node}`), parts, {}),
      ];
    case 'edit job pod':
      return editPod(step, parts);
  }
}

function jobSpec(job: JobRules, nowMs: number): Partial<DaemonJobSpec> {
  const { image, zone, retry, parallelism, isSuspended } = job;
  const { backoffLimit, deadlineSeconds, untilSeconds, maxFailed, ttlSeconds } = job;
  return {
    retry,
    parallelism,
    ...(isSuspended && { suspend: true }),
    ...(backoffLimit !== null && retry === 'AtLeastOnce' && { backoffLimit }),
    ...(deadlineSeconds !== null && { activeDeadlineSeconds: deadlineSeconds }),
    ...(untilSeconds !== null && { until: toTimestamp(nowMs + untilSeconds * 1_000) }),
    ...(maxFailed !== null && { maxFailed }),
    ...(ttlSeconds !== null && { ttlSecondsAfterFinished: ttlSeconds }),
    template: {
      spec: {
        containers: [{ name: 'work', image }],
        terminationGracePeriodSeconds: 2,
        ...(zone && { nodeSelector: { zone } }),
      },
    },
  };
}

/** The annotations of the newest Pod of a job on a host. */
function editPod({ name, node, attempt, run }: Extract<JobStep, { kind: 'edit job pod' }>, parts: UserDeps) {
  const pods = [...parts.stored.pods.values()].filter(
    (pod) => pod.metadata.name.startsWith(`${name}.`) && targetNodeOf(pod) === node,
  );
  const pod = pods.at(-1);
  if (!pod) return [];
  const edit: Request = (registry) =>
    changed(
      registry,
      podKind,
      refOf(pod.metadata.name),
      ({ metadata }) => {
        metadata.annotations = {
          ...metadata.annotations,
          [ATTEMPT_ANNOTATION]: attempt,
          [RUN_ANNOTATION]: run,
        };
      },
      { user: 'a person' },
    );
  return [edit];
}

/** Resumes jobs, and lets those end that wait for a time which the history does not reach, as a clock was set back. */
export function repairJobs({ stored: truth, now }: UserDeps): Request[] {
  const open = [...truth.daemonJobs.values()].filter((job) => !daemonJobFinishedAs(job));
  return open.map(
    ({ metadata }) =>
      (registry) =>
        changed(registry, daemonJobKind, refOf(metadata.name), ({ spec }) => {
          spec.suspend = false;
          const soon = now() + SOON_MS;
          if (spec.until !== undefined && Date.parse(spec.until) > soon) spec.until = toTimestamp(soon);
        }),
  );
}
