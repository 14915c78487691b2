/** Validation of the containers of a Pod. */
import type { Container, EphemeralContainer, PodSpec } from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import {
  duplicate,
  forbidden,
  invalidValue,
  missing,
  notSupported,
  required,
} from '../../validation/field-error.js';
import { dnsLabelProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';
import { validateHostPortsUnique, validatePorts } from './container-port-validation.js';
import { validateEnv, validateEnvFrom } from './env-validation.js';
import { validateDecidingProbe, validateLifecycle, validateReadinessProbe } from './probe-validation.js';
import { validateResources } from './resource-validation.js';
import { validateContainerSecurity } from './security-context-validation.js';
import { validateVolumeDevices, validateVolumeMounts } from './volume-mount-validation.js';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const INIT_ONLY = 'may not be set for init containers without restartPolicy=Always';
const EPHEMERAL = 'cannot be set for an Ephemeral Container';
const EPHEMERAL_FORBIDDEN = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const satisfies readonly (keyof EphemeralContainer | 'resizePolicy' | 'restartPolicyRules')[];

/** Properties of the Pod that containers depend on. */
interface Surroundings {
  /** Names of valid volumes. */
  volumes: ReadonlySet<string>;
  graceSeconds: number;
  /** True if the Pod uses the host's user namespace. */
  hostUsers: boolean;
}

function validateChoice(value: string | undefined, allowed: readonly string[], field: string): FieldError[] {
  if (!value) return [required(field)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

function validateCommon(container: Container, around: Surroundings, field: string): FieldError[] {
  const { volumes, hostUsers } = around;
  const nameField = `${field}.name`;
  return [
    ...(container.name
      ? invalidFor(nameField, container.name, dnsLabelProblems(container.name))
      : [required(nameField)]),
    ...(container.image ? [] : [required(`${field}.image`)]),
    ...validateChoice(
      container.terminationMessagePolicy,
      MESSAGE_POLICIES,
      `${field}.terminationMessagePolicy`,
    ),
    ...validatePorts(container.ports, `${field}.ports`),
    ...validateEnv(container.env, `${field}.env`),
    ...validateEnvFrom(container.envFrom, `${field}.envFrom`),
    ...validateVolumeMounts(container, volumes, `${field}.volumeMounts`),
    ...validateVolumeDevices(container, volumes, `${field}.volumeDevices`),
    ...validateChoice(container.imagePullPolicy, PULL_POLICIES, `${field}.imagePullPolicy`),
    ...validateResources(container.resources, `${field}.resources`),
    ...validateContainerSecurity(container.securityContext, hostUsers, `${field}.securityContext`),
  ];
}

function validateLife(container: Container, graceSeconds: number, field: string): FieldError[] {
  return [
    ...validateLifecycle(container.lifecycle, `${field}.lifecycle`, graceSeconds),
    ...validateDecidingProbe(container.livenessProbe, `${field}.livenessProbe`, graceSeconds),
    ...validateReadinessProbe(container.readinessProbe, `${field}.readinessProbe`, graceSeconds),
    ...validateDecidingProbe(container.startupProbe, `${field}.startupProbe`, graceSeconds),
  ];
}

/** Reports a duplicate name. Upstream also reports an empty one, in addition to `Required`. */
function claimName(container: Container, names: Set<string>, field: string): FieldError[] {
  const name = container.name ?? '';
  if (names.has(name)) return [duplicate(`${field}.name`, name)];
  names.add(name);
  return [];
}

/** Templates may contain such images, for example as placeholders. Pods may not. */
export function validateImagePadding({ image = '' }: Container, field: string): FieldError[] {
  if (image.trim() === image) return [];
  return [invalidValue(`${field}.image`, image, 'must not have leading or trailing whitespace')];
}

function validateRegular(container: Container, around: Surroundings, field: string): FieldError[] {
  const restart = `${field}.restartPolicy`;
  return [
    ...validateCommon(container, around, field),
    ...validateLife(container, around.graceSeconds, field),
    ...(container.restartPolicy === undefined
      ? []
      : [forbidden(restart, 'may not be set for non-init containers')]),
  ];
}

/** An init container with restartPolicy Always is a sidecar. It keeps running, so it may have probes and hooks. */
function validateInit(container: Container, around: Surroundings, field: string): FieldError[] {
  const errors = validateCommon(container, around, field);
  const restart = container.restartPolicy;
  if (restart === 'Always') return [...errors, ...validateLife(container, around.graceSeconds, field)];
  if (restart !== undefined) errors.push(notSupported(`${field}.restartPolicy`, restart, ['Always']));
  for (const key of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[key]) errors.push(forbidden(`${field}.${key}`, INIT_ONLY));
  }
  return [...errors, ...validateHostPortsUnique([container], field.slice(0, field.lastIndexOf('[')))];
}

function validateEphemeral(container: Container, around: Surroundings, field: string): FieldError[] {
  const errors = validateCommon(container, around, field);
  for (const key of EPHEMERAL_FORBIDDEN) {
    const value: unknown = Reflect.get(container, key);
    if (!value || Object.keys(value).length === 0) continue;
    errors.push(forbidden(`${field}.${key}`, EPHEMERAL));
  }
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    for (const key of ['subPath', 'subPathExpr'] as const) {
      if (mount[key]) errors.push(forbidden(`${field}.volumeMounts[${index}].${key}`, EPHEMERAL));
    }
  }
  return [...errors, ...validateImagePadding(container, field)];
}

/** The container whose processes are shown must exist and must not be ephemeral. */
function validateTargets(
  containers: readonly EphemeralContainer[],
  targets: ReadonlySet<string>,
  field: string,
): FieldError[] {
  return containers.flatMap(({ targetContainerName: target }, index) =>
    target && !targets.has(target) ? [missing(`${field}[${index}].targetContainerName`, target)] : [],
  );
}

/** Validates all containers of a Pod. Names must be unique across the three lists. */
export function validateContainers(spec: PodSpec, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const around: Surroundings = {
    volumes,
    graceSeconds: spec.terminationGracePeriodSeconds ?? 0,
    hostUsers: spec.hostUsers ?? true,
  };
  const names = new Set<string>();
  const check = (list: keyof PodSpec, containers: readonly Container[], validate: typeof validateRegular) =>
    containers.flatMap((container, index) => {
      const path = `${field}.${list}[${index}]`;
      return [...validate(container, around, path), ...claimName(container, names, path)];
    });
  const targets = new Set([...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name));
  return [
    ...(spec.containers.length === 0 ? [required(`${field}.containers`)] : []),
    ...check('containers', spec.containers, validateRegular),
    ...validateHostPortsUnique(spec.containers, `${field}.containers`),
    ...check('initContainers', spec.initContainers ?? [], validateInit),
    ...check('ephemeralContainers', spec.ephemeralContainers ?? [], validateEphemeral),
    ...validateTargets(spec.ephemeralContainers ?? [], targets, `${field}.ephemeralContainers`),
  ];
}
