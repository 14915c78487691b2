/** Validation of a PodSpec in Pods and templates (`pkg/apis/core/validation/validation.go`, ValidatePodSpec). */

import type { PodSpec, PodTemplateSpec } from '../../../../shared/kube/pods/pod-types.js';
import { PREEMPTION_POLICIES } from '../../../../shared/kube/pods/priority-class.js';
import { MIRROR_ANNOTATION } from '../../../../shared/kube/pods/static-pod-annotations.js';
import type { FieldError } from '../../kind.js';
import { forbidden, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../validation/name-rules.js';
import { invalidFor, validateAnnotations, validateLabels } from '../../validation/object-meta-validation.js';
import { validateAffinity } from './affinity-validation.js';
import { validateHostNetworkPorts } from './container-port-validation.js';
import { validateContainers } from './container-validation.js';
import { validateDns, validateHostAliases } from './dns-validation.js';
import { validateResourceList } from './resource-validation.js';
import {
  validateReadinessGates,
  validateSchedulingGates,
  validateTopologySpread,
} from './scheduling-validation.js';
import { validatePodSecurity } from './security-context-validation.js';
import { validateTolerations } from './toleration-validation.js';
import { validatePositiveInt32 } from './value-validation.js';
import { validateVolumes } from './volume-validation.js';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const OPERATING_SYSTEMS = ['linux', 'windows'];

/** Fields with a name, and the rule for that name. */
const NAMES = {
  serviceAccountName: dnsSubdomainProblems,
  nodeName: dnsSubdomainProblems,
  hostname: dnsLabelProblems,
  subdomain: dnsLabelProblems,
  priorityClassName: dnsSubdomainProblems,
  runtimeClassName: dnsSubdomainProblems,
} as const;

function validateNames(spec: PodSpec, field: string): FieldError[] {
  return (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((key) => {
    const name = spec[key];
    return name ? invalidFor(`${field}.${key}`, name, NAMES[key](name)) : [];
  });
}

function validatePolicies(spec: PodSpec, field: string): FieldError[] {
  const { restartPolicy, preemptionPolicy, os } = spec;
  const errors: FieldError[] = [];
  if (!restartPolicy) errors.push(required(`${field}.restartPolicy`));
  else if (!RESTART_POLICIES.includes(restartPolicy)) {
    errors.push(notSupported(`${field}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  }
  if (preemptionPolicy !== undefined && !PREEMPTION_POLICIES.includes(preemptionPolicy)) {
    errors.push(notSupported(`${field}.preemptionPolicy`, preemptionPolicy, PREEMPTION_POLICIES));
  }
  if (os && !os.name) errors.push(required(`${field}.os.name`));
  else if (os && !OPERATING_SYSTEMS.includes(os.name)) {
    errors.push(notSupported(`${field}.os.name`, os.name, OPERATING_SYSTEMS));
  }
  return errors;
}

/** Returns all errors of a spec with defaults. */
export function validatePodSpec(spec: PodSpec, field: string): FieldError[] {
  const volumes = validateVolumes(spec.volumes, `${field}.volumes`);
  return [
    ...volumes.errors,
    ...validateContainers(spec, volumes.names, field),
    ...validateHostNetworkPorts(spec, field),
    ...validatePolicies(spec, field),
    ...validateDns(spec, field),
    ...validateLabels(spec.nodeSelector, `${field}.nodeSelector`),
    ...validatePodSecurity(spec, `${field}.securityContext`),
    ...validateAffinity(spec.affinity, `${field}.affinity`),
    ...validateReadinessGates(spec.readinessGates, `${field}.readinessGates`),
    ...validateSchedulingGates(spec.schedulingGates, `${field}.schedulingGates`),
    ...validateTopologySpread(spec.topologySpreadConstraints, `${field}.topologySpreadConstraints`),
    ...validateNames(spec, field),
    ...validatePositiveInt32(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`),
    ...validateTolerations(spec.tolerations, `${field}.tolerations`),
    ...validateHostAliases(spec.hostAliases, `${field}.hostAliases`),
    ...validateResourceList(spec.overhead, `${field}.overhead`),
  ];
}

/** Errors of a template's labels and annotations have the template's path without `metadata`, like upstream. */
export function validatePodTemplate(template: PodTemplateSpec, field: string): FieldError[] {
  const ephemeral = template.spec.ephemeralContainers?.length ?? 0;
  return [
    ...validateLabels(template.metadata?.labels, `${field}.labels`),
    ...validateAnnotations(template.metadata?.annotations, `${field}.annotations`),
    ...validateNoMirror(template, `${field}.annotations`),
    ...validatePodSpec(template.spec, `${field}.spec`),
    ...(ephemeral > 0
      ? [forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
}

/** A template must not make mirror Pods (`ValidatePodSpecificAnnotations`; upstream allows them with a node name). */
function validateNoMirror(
  { metadata, spec }: Pick<PodTemplateSpec, 'metadata' | 'spec'>,
  field: string,
): FieldError[] {
  const value = metadata?.annotations?.[MIRROR_ANNOTATION];
  if (value === undefined) return [];
  const path = `${field}[${MIRROR_ANNOTATION}]`;
  if (spec.nodeName) return [forbidden(path, 'only nodes can create mirror pods')];
  return [invalidValue(path, value, 'must set spec.nodeName if mirror pod annotation is set')];
}
