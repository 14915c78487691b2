/** Rules for `metadata` of all kinds (k8s.io/apimachinery pkg/api/validation/objectmeta.go). */
import type { KubeObject, ObjectMeta, OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { FieldError, Kind, WriteContext } from '../kind.js';
import { FIELD_IMMUTABLE, forbidden, invalidValue, required, tooLong } from './field-error.js';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from './name-rules.js';

const ANNOTATIONS_MAX_BYTES = 256 * 1024;
const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

type Naming = Pick<Kind, 'namespaced' | 'nameRule' | 'hasPlainFinalizers'>;

function nameProblems(rule: Kind['nameRule'], text: string): string[] {
  switch (rule) {
    case 'dnsLabel':
      return dnsLabelProblems(text);
    case 'dnsSubdomain':
      return dnsSubdomainProblems(text);
    case 'pathSegment':
      // Every name is already checked for these rules.
      return [];
  }
}

/** A generateName may end with '-', because the random part follows. */
function prefixProblems(rule: Kind['nameRule'], prefix: string): string[] {
  const masked = prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix;
  return nameProblems(rule, masked);
}

/** Returns one `Invalid value` for each problem. */
export function invalidFor(field: string, value: unknown, problems: readonly string[]): FieldError[] {
  return problems.map((problem) => invalidValue(field, value, problem));
}

/** Reports errors of keys and values at the path of the map, like upstream. */
export function validateLabels(labels: Record<string, string> | undefined, field: string): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...invalidFor(field, key, qualifiedNameProblems(key)),
    ...invalidFor(field, value, labelValueProblems(value)),
  ]);
}

/** Validates keys and total size of annotations. */
export function validateAnnotations(
  annotations: Record<string, string> | undefined,
  field: string,
): FieldError[] {
  const entries = Object.entries(annotations ?? {});
  const errors = entries.flatMap(([key]) => invalidFor(field, key, qualifiedNameProblems(key.toLowerCase())));
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (bytes > ANNOTATIONS_MAX_BYTES) errors.push(tooLong(field, ANNOTATIONS_MAX_BYTES));
  return errors;
}

function validateOwnerReference(reference: OwnerReference, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const version = (reference.apiVersion ?? '').split('/').at(-1);
  if (!version)
    errors.push(invalidValue(`${field}.apiVersion`, reference.apiVersion ?? '', 'version must not be empty'));
  for (const key of ['kind', 'name', 'uid'] as const) {
    if (!reference[key]) errors.push(invalidValue(`${field}.${key}`, '', 'must not be empty'));
  }
  if (reference.kind === 'Event' && /^(v1|events\.k8s\.io\/.*)$/.test(reference.apiVersion)) {
    errors.push(
      invalidValue(field, reference, `${reference.apiVersion}, Kind=Event is disallowed from being an owner`),
    );
  }
  return errors;
}

function validateOwnerReferences(references: readonly OwnerReference[], field: string): FieldError[] {
  const errors = references.flatMap((reference) => validateOwnerReference(reference, field));
  const controllers = references.filter((reference) => reference.controller === true);
  const [first, ...others] = controllers.map((reference) => `${reference.kind}/${reference.name}`);
  for (const other of others) {
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${other}`;
    errors.push(invalidValue(field, references, detail));
  }
  return errors;
}

function validateFinalizers(
  finalizers: readonly string[],
  field: string,
  { hasPlainFinalizers }: Naming,
): FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    invalidFor(field, finalizer, qualifiedNameProblems(finalizer)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(invalidValue(field, finalizers, detail));
  }
  return hasPlainFinalizers ? errors : [...errors, ...validateFinalizerNames(finalizers, field)];
}

/** A finalizer is one of upstream's own or has a domain prefix. */
export function validateFinalizerNames(finalizers: readonly string[], field: string): FieldError[] {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  return finalizers.flatMap((finalizer, index) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
      ? []
      : [invalidValue(`${field}[${index}]`, finalizer, detail)],
  );
}

function validateName(meta: ObjectMeta, rule: Kind['nameRule'], field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName) {
    errors.push(
      ...invalidFor(`${field}.generateName`, meta.generateName, prefixProblems(rule, meta.generateName)),
    );
  }
  if (!meta.name) return [...errors, required(`${field}.name`, 'name or generateName is required')];
  const problems = [...nameProblems(rule, meta.name), ...pathSegmentProblems(meta.name)];
  return [...errors, ...invalidFor(`${field}.name`, meta.name, problems)];
}

function validateNamespace(meta: ObjectMeta, namespaced: boolean, field: string): FieldError[] {
  if (!namespaced) return meta.namespace ? [forbidden(field, 'not allowed on this type')] : [];
  if (!meta.namespace) return [required(field)];
  return invalidFor(field, meta.namespace, dnsLabelProblems(meta.namespace));
}

/** Validates labels, annotations, owners and finalizers, on create and on every update. */
function validateChangeable(meta: ObjectMeta, kind: Naming, field: string): FieldError[] {
  return [
    ...validateLabels(meta.labels, `${field}.labels`),
    ...validateAnnotations(meta.annotations, `${field}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences ?? [], `${field}.ownerReferences`),
    ...validateFinalizers(meta.finalizers ?? [], `${field}.finalizers`, kind),
  ];
}

/** Returns all errors of the metadata of an object of this kind. A generated name must already be set. */
export function validateObjectMeta(meta: ObjectMeta, kind: Naming): FieldError[] {
  const field = 'metadata';
  const generation = meta.generation ?? 0;
  return [
    ...validateName(meta, kind.nameRule, field),
    ...validateNamespace(meta, kind.namespaced, `${field}.namespace`),
    ...(generation < 0
      ? [invalidValue(`${field}.generation`, generation, 'must be greater than or equal to 0')]
      : []),
    ...validateChangeable(meta, kind, field),
  ];
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Returns the errors of a metadata change. The registry has already filled in fields that an update may omit. */
export function validateObjectMetaUpdate(next: ObjectMeta, current: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  const added = (next.finalizers ?? []).filter((finalizer) => !current.finalizers?.includes(finalizer));
  if (current.deletionTimestamp && added.length > 0) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    errors.push(forbidden('metadata.finalizers', detail));
  }
  if ((next.generation ?? 0) < (current.generation ?? 0)) {
    errors.push(invalidValue('metadata.generation', next.generation ?? 0, 'must not be decremented'));
  }
  for (const key of IMMUTABLE) {
    if ((next[key] ?? null) !== (current[key] ?? null)) {
      errors.push(invalidValue(`metadata.${key}`, next[key], FIELD_IMMUTABLE));
    }
  }
  return errors;
}

/**
 * Reverts an annotation that only the hub and the controllers may change, in place on `next`. Users' writes cannot add,
 * change or remove it. The hub and the controllers write without a user.
 */
export function keepServerAnnotation(
  key: string,
  next: KubeObject,
  current: KubeObject,
  { user }: WriteContext,
): void {
  if (user === undefined) return;
  const stored = current.metadata.annotations?.[key];
  if (stored === undefined) delete next.metadata.annotations?.[key];
  else next.metadata.annotations = { ...next.metadata.annotations, [key]: stored };
}
