/** Validation of Pods: creation, allowed changes, status (`pkg/apis/core/validation/validation.go`). */

import { OVERRIDES_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import { HOST_VALUES_ANNOTATION } from '../../../shared/kube/host-values/rendered-values.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { Container, ContainerStatus, Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { MIRROR_ANNOTATION, staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { FieldError } from '../kind.js';
import { forbidden, invalidValue } from '../validation/field-error.js';
import { dnsSubdomainProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateImagePadding } from './spec-validation/container-validation.js';
import { validatePodSpec } from './spec-validation/pod-spec-validation.js';
import { validatePositiveInt32 } from './spec-validation/value-validation.js';

const ONLY_THESE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Returns all errors of a Pod with defaults. */
export function validatePod({ spec }: Pod): FieldError[] {
  const errors = [...validatePodSpec(spec, 'spec'), ...validateForPodOnly(spec)];
  if (spec.nodeName && spec.schedulingGates?.length) {
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return errors;
}

/** Rules for Pods but not for templates (`validatePodMetadataAndSpec`). */
function validateForPodOnly(spec: PodSpec): FieldError[] {
  const tokens = spec.serviceAccountName ? [] : validateNoTokens(spec);
  const images = (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) =>
      validateImagePadding(container, `spec.${list}[${index}]`),
    ),
  );
  return [...tokens, ...images];
}

/** Returns the errors of a new Pod that its later writes do not have (`ValidatePodCreate`). */
export function validatePodCreate({ spec }: Pod): FieldError[] {
  return spec.ephemeralContainers?.length
    ? [forbidden('spec.ephemeralContainers', 'cannot be set on create')]
    : [];
}

/** A Pod without a ServiceAccount cannot mount tokens. */
function validateNoTokens(spec: PodSpec): FieldError[] {
  const detail = 'must not be specified when serviceAccountName is not set';
  return (spec.volumes ?? []).flatMap((volume, index) =>
    (volume.projected?.sources ?? []).flatMap((source, position) => {
      const path = `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`;
      return source.serviceAccountToken ? [forbidden(path, detail)] : [];
    }),
  );
}

/** Containers cannot be added to or removed from a Pod. */
function validateContainerLists(next: PodSpec, current: PodSpec): FieldError[] {
  return (['containers', 'initContainers'] as const).flatMap((list) => {
    const count = next[list]?.length ?? 0;
    if (count !== (current[list]?.length ?? 0)) {
      return [forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
    return [];
  });
}

/** A deadline may be added or shortened. */
function validateDeadline(next: PodSpec, current: PodSpec): FieldError[] {
  const field = 'spec.activeDeadlineSeconds';
  const [wanted, had] = [next.activeDeadlineSeconds, current.activeDeadlineSeconds];
  if (wanted === undefined) {
    return had === undefined
      ? []
      : [invalidValue(field, null, 'must not update from a positive integer to nil value')];
  }
  if (had !== undefined && wanted > had) {
    return [invalidValue(field, wanted, 'must be less than or equal to previous value')];
  }
  return validatePositiveInt32(wanted, field);
}

function sameButSeconds(a: Toleration, b: Toleration): boolean {
  const strip = ({ tolerationSeconds: _, ...rest }: Toleration) => rest;
  return semanticallyEqual(strip(a), strip(b));
}

/** Tolerations may be added, and their tolerationSeconds may change. */
function validateTolerationsKept(next: PodSpec, current: PodSpec): FieldError[] {
  const lost = (current.tolerations ?? []).some(
    (toleration) => !next.tolerations?.some((candidate) => sameButSeconds(candidate, toleration)),
  );
  if (!lost) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbidden('spec.tolerations', detail)];
}

function validateGatesOnlyLifted(next: PodSpec, current: PodSpec): FieldError[] {
  const had = new Set(current.schedulingGates?.map((gate) => gate.name));
  return (next.schedulingGates ?? []).flatMap(({ name }, index) => {
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return had.has(name) ? [] : [forbidden(`spec.schedulingGates[${index}].name`, detail)];
  });
}

function withImagesOf(
  containers: readonly Container[] | undefined,
  source: readonly Container[] | undefined,
) {
  return containers?.map((container, index) => ({ ...container, image: source?.[index]?.image ?? '' }));
}

/** Returns `next` with all changeable fields reverted. Remaining differences are errors. */
function withoutAllowedChanges(next: PodSpec, current: PodSpec): Partial<PodSpec> {
  const { terminationGracePeriodSeconds: grace } = next;
  const graceAllowed = grace === 1 && (current.terminationGracePeriodSeconds ?? 0) < 0;
  return {
    ...next,
    containers: withImagesOf(next.containers, current.containers) ?? [],
    initContainers: withImagesOf(next.initContainers, current.initContainers),
    activeDeadlineSeconds: current.activeDeadlineSeconds,
    tolerations: current.tolerations,
    schedulingGates: current.schedulingGates,
    terminationGracePeriodSeconds: graceAllowed ? current.terminationGracePeriodSeconds : grace,
  };
}

/**
 * The values and overrides of a Pod are those of its creation. Changed by a user, values would name Secrets that the
 * Pod's author did not choose, and overrides would replace the Pod.
 */
function validateHostValuesKept(next: Pod, current: Pod): FieldError[] {
  return [HOST_VALUES_ANNOTATION, OVERRIDES_ANNOTATION].flatMap((annotation) => {
    const [before, after] = [current, next].map(({ metadata }) => metadata.annotations?.[annotation]);
    if (before === after) return [];
    return [forbidden(`metadata.annotations[${annotation}]`, 'may not be added, removed or changed')];
  });
}

/** The mirror annotation is fixed at creation (`ValidatePodSpecificAnnotationUpdates`). */
function validateMirrorKept(next: Pod, current: Pod): FieldError[] {
  const before = staticPodUid(current);
  if (staticPodUid(next) === before) return [];
  const detail =
    before === undefined
      ? 'may not add mirror pod annotation'
      : 'may not remove or update mirror pod annotation';
  return [forbidden(`metadata.annotations[${MIRROR_ANNOTATION}]`, detail)];
}

/**
 * Returns the errors of a change of a Pod. `spec.nodeName` cannot change either, because binding is a verb of its own.
 */
export function validatePodUpdate(next: Pod, current: Pod): FieldError[] {
  const lists = validateContainerLists(next.spec, current.spec);
  if (lists.length > 0) return lists;
  const errors = [
    ...validateMirrorKept(next, current),
    ...validateHostValuesKept(next, current),
    ...validateDeadline(next.spec, current.spec),
    ...validateTolerationsKept(next.spec, current.spec),
    ...validateGatesOnlyLifted(next.spec, current.spec),
  ];
  if (semanticallyEqual(withoutAllowedChanges(next.spec, current.spec), current.spec)) return errors;
  return [...errors, forbidden('spec', ONLY_THESE)];
}

/** A container that has exited for good (by its restart policy) cannot run again. */
function validateTransitions(
  next: readonly ContainerStatus[] | undefined,
  current: readonly ContainerStatus[] | undefined,
  restartPolicy: string | undefined,
  field: string,
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  return (current ?? []).flatMap((before) => {
    const ended = before.state?.terminated;
    if (!ended || (ended.exitCode !== 0 && restartPolicy === 'OnFailure')) return [];
    const index = (next ?? []).findIndex((status) => status.name === before.name);
    if (index < 0 || next?.[index]?.state?.terminated) return [];
    return [forbidden(`${field}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
}

/** Returns the errors of a status write. */
export function validatePodStatus(next: Pod, current: Pod): FieldError[] {
  const nominated = next.status?.nominatedNodeName;
  return [
    ...validateMirrorKept(next, current),
    ...(nominated ? invalidFor('status.nominatedNodeName', nominated, dnsSubdomainProblems(nominated)) : []),
    ...validateTransitions(
      next.status?.containerStatuses,
      current.status?.containerStatuses,
      current.spec.restartPolicy,
      'status.containerStatuses',
    ),
  ];
}
