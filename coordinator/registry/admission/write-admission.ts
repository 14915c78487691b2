/**
 * The chain that every write passes: strict fields, defaults, server-owned metadata, the kind's preparation, validation
 * and warnings (`rest.BeforeCreate`, `rest.BeforeUpdate`). A body becomes the object: callers must not use it
 * afterwards.
 */

import { badRequest, conflict, invalid } from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import {
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
  toTimestamp,
} from '../../../shared/kube/objects/meta.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { FieldError, Kind, WriteContext } from '../../kinds/kind.js';
import {
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../kinds/validation/object-meta-validation.js';
import { copyJson } from '../encoding/json-value.js';
import type { WriteOptions } from '../registry-options.js';
import { decodeStrictly } from './strict-decoding.js';
import { placeAtName, placeInNamespace, readBody } from './typed-body.js';

/**
 * Reads a body as an object of the kind: checks it against the schema and sets defaults. Parts that it shares with
 * `current` were checked when they were stored. Throws a 400.
 */
export function readObject<T extends KubeObject>(
  kind: Kind<T>,
  body: unknown,
  options: WriteOptions,
  current?: T,
): T {
  const map = readBody(kind, body);
  if (options.fieldValidation) decodeStrictly(kind, map, options, { ...current });
  const object = map as unknown as T;
  kind.setDefaults(object);
  if (isPod(object)) addDefaultTolerations(object);
  return object;
}

export function isPod(object: KubeObject): object is Pod {
  return object.apiVersion === 'v1' && object.kind === 'Pod';
}

/** Throws a 422 that lists all `errors`, if there are any. */
export function refuseInvalid(kind: Kind, name: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(kind, name, [...errors]);
}

/** Values that the server chooses for a new object. */
interface Creation {
  /** Milliseconds since the epoch. */
  now: number;
  uid: string;
  /** Used when the body has generateName and no name. */
  generateName: (base: string) => string;
}

/** Turns `object` into what a POST stores, in place. It must already be in its namespace. Throws 400 and 422. */
export function admitCreate<T extends KubeObject>(
  kind: Kind<T>,
  object: T,
  creation: Creation,
  options: WriteOptions,
): void {
  const { metadata } = object;
  if (metadata.resourceVersion) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.resourceVersion;
  if (!metadata.name && metadata.generateName) {
    nameObject(kind, object, creation.generateName(metadata.generateName));
  }
  metadata.uid = creation.uid;
  metadata.creationTimestamp = toTimestamp(creation.now);
  kind.prepareForCreate(object, contextOf(creation.now, options));
  refuseInvalid(kind, metadata.name ?? '', [
    ...validateObjectMeta(metadata, kind),
    ...kind.validate(object),
    ...(kind.validateCreate?.(object) ?? []),
  ]);
  options.review?.(kind, object, undefined);
  warn(kind, object, options);
}

function contextOf(now: number, { user, groups }: WriteOptions): WriteContext {
  return { now, ...(user === undefined ? {} : { user }), ...(groups ? { groups } : {}) };
}

/** Sets a generated name, and the defaults that depend on the name (a Namespace's label). */
export function nameObject<T extends KubeObject>(kind: Kind<T>, object: T, name: string): void {
  object.metadata.name = name;
  kind.setDefaults(object);
}

/** Warns the client of fields that are stored without effect. */
function warn<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions): void {
  if (!options.warn) return;
  for (const text of kind.warnings(object)) options.warn(text);
}

/** Metadata that only the server writes: an update keeps the stored value and ignores the body's. */
const SERVER_OWNED = [
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
] as const;

function keepServerOwned(next: ObjectMeta, current: ObjectMeta): void {
  for (const field of SERVER_OWNED) {
    if (current[field] === undefined) delete next[field];
    else Object.assign(next, { [field]: current[field] });
  }
  if (current.uid !== undefined) next.uid = current.uid;
  delete next.resourceVersion;
}

/** Throws a 409 if the body names another resourceVersion or another uid than the stored object has. */
function checkIdentity(kind: Kind, next: ObjectMeta, current: ObjectMeta): void {
  if (next.uid && current.uid && next.uid !== current.uid) {
    const detail = `Precondition failed: UID in precondition: ${next.uid}, UID in object meta: ${current.uid}`;
    throw conflict(kind, current.name, detail);
  }
  if (
    next.resourceVersion &&
    next.resourceVersion !== '0' &&
    next.resourceVersion !== current.resourceVersion
  ) {
    throw conflict(kind, current.name);
  }
}

/** The input of a PUT, PATCH or modify. */
export interface Replacement<T extends KubeObject> {
  ref: ObjectRef;
  /** The new object, not yet validated. */
  body: unknown;
  /** The stored object that `body` replaces. */
  current: T;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Returns the object that such a write stores. Throws 400, 409 and 422. */
export function admitUpdate<T extends KubeObject>(
  kind: Kind<T>,
  { ref, body, current, now }: Replacement<T>,
  options: WriteOptions,
): T {
  const next = readObject(kind, body, options, current);
  placeInNamespace(kind, next, ref.namespace);
  placeAtName(next, ref);
  checkIdentity(kind, next.metadata, current.metadata);
  keepServerOwned(next.metadata, current.metadata);
  refuseInvalid(kind, ref.name, prepareAndValidate(kind, next, current, now, options));
  options.review?.(kind, next, current);
  warn(kind, next, options);
  return next;
}

function prepareAndValidate<T extends KubeObject>(
  kind: Kind<T>,
  next: T,
  current: T,
  now: number,
  options: WriteOptions,
): FieldError[] {
  const metadataErrors = () => [
    ...validateObjectMeta(next.metadata, kind),
    ...validateObjectMetaUpdate(next.metadata, current.metadata),
  ];
  const context = contextOf(now, options);
  if (options.subresource === 'status' || options.subresource === 'approval') {
    const isApproval = options.subresource === 'approval';
    if (isApproval) kind.prepareForApproval?.(next, current, context);
    else kind.prepareForStatusUpdate?.(next, current, context);
    return [...metadataErrors(), ...(kind.validateStatusUpdate?.(next, current) ?? [])];
  }
  if (options.subresource === 'ephemeralcontainers') {
    kind.prepareForEphemeralContainers?.(next, current, context);
    const changes = kind.validateEphemeralContainersUpdate?.(next, current) ?? [];
    return [...metadataErrors(), ...kind.validate(next), ...changes];
  }
  if (options.subresource === 'finalize') keepAllButSpecFinalizers(next, current);
  else kind.prepareForUpdate(next, current, context);
  return [...metadataErrors(), ...kind.validate(next), ...kind.validateUpdate(next, current)];
}

/** A write to a Namespace's `/finalize` changes only spec.finalizers (`namespaceFinalizeStrategy`). */
function keepAllButSpecFinalizers<T extends KubeObject>(next: T, current: T): void {
  const { finalizers } = (next as Namespace).spec ?? {};
  const kept: Namespace = copyJson(current);
  kept.spec = { ...kept.spec, finalizers: finalizers ?? [] };
  Object.assign(next, kept);
}

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const RANDOM_LENGTH = 5;
const MAX_BASE_LENGTH = 63 - RANDOM_LENGTH;

/**
 * Returns `base`, cut to 58 characters, with five random characters of upstream's alphabet
 * (`k8s.io/apiserver/pkg/storage/names`). `random` is uniform in [0, 1).
 */
export function generateName(base: string, random: () => number): string {
  const suffix = Array.from(
    { length: RANDOM_LENGTH },
    () => ALPHABET[Math.floor(random() * ALPHABET.length)],
  );
  return base.slice(0, MAX_BASE_LENGTH) + suffix.join('');
}

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const SECONDS = 300;

function bears(toleration: Toleration, taint: string): boolean {
  return (
    (!toleration.key || toleration.key === taint) && (!toleration.effect || toleration.effect === 'NoExecute')
  );
}

/**
 * The DefaultTolerationSeconds admission plugin (`plugin/pkg/admission/defaulttolerationseconds`): unless the Pod says
 * otherwise, it stays for 5 minutes on a node that is NotReady or unreachable. Changes the Pod in place.
 */
function addDefaultTolerations(pod: Pod): void {
  const own = pod.spec.tolerations ?? [];
  const added = TAINTS.filter((taint) => !own.some((toleration) => bears(toleration, taint))).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: SECONDS,
  }));
  if (added.length > 0) pod.spec.tolerations = [...own, ...added];
}
