/** What DaemonSets, Deployments and ReplicaSets check alike (`pkg/apis/apps/validation/validation.go`). */
import type { LabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { FIELD_IMMUTABLE, forbidden, invalidValue, notSupported } from './field-error.js';
import { semanticallyEqual } from './semantic-equality.js';

interface Selecting {
  spec: { selector?: LabelSelector };
}

/** The selector is immutable, because it decides which Pods belong to the object. */
export function validateSelectorUpdate(next: Selecting, current: Selecting): FieldError[] {
  if (semanticallyEqual(next.spec.selector, current.spec.selector)) return [];
  return [invalidValue('spec.selector', next.spec.selector, FIELD_IMMUTABLE)];
}

/** `owner`: upstream's name of the kind in the message. */
export function validateTemplateUse(
  { spec }: PodTemplateSpec,
  owner: 'DaemonSet' | 'ReplicaSet',
): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.restartPolicy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', spec.restartPolicy, ['Always']));
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`;
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', detail));
  }
  return errors;
}

type Counters<K extends string> = Partial<Record<K | 'collisionCount', number>>;

/** Counters must not be negative, and collisionCount must not decrease. */
export function validateCounters<K extends string>(
  names: readonly K[],
  status: Counters<K> | undefined,
  current: Counters<K> | undefined,
): FieldError[] {
  const errors = [...names, 'collisionCount' as const].flatMap((name) =>
    validateNonNegative(status?.[name], `status.${name}`),
  );
  const collisions: number = status?.collisionCount ?? 0;
  if (collisions < (current?.collisionCount ?? 0)) {
    errors.push(invalidValue('status.collisionCount', collisions, 'cannot be decremented'));
  }
  return errors;
}
