/** Bulk writes of the coordinator's own complete objects, such as Events, with one buffer and one store call. */
import { type KubeObject, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { type Guard, type NewValue, RevisionMismatch, type Store } from '../../store/store.js';
import { requireActiveNamespace } from '../admission/namespace-lifecycle.js';
import { copyJson } from '../encoding/json-value.js';
import { encodeObject, encodeTogether } from '../encoding/object-encoding.js';
import { recordOf } from '../encoding/object-record.js';
import type { ObjectRecord, RegistryDeps } from '../registry.js';
import { writeError } from '../registry-errors.js';
import { keyOf } from '../storage-keys.js';

/** Attempts after concurrent changes of the namespace, before the error is returned. */
const MAX_ATTEMPTS = 8;

/** The guard of a namespace, or the error if it accepts no new objects. */
type NamespaceGuard = { guard?: Guard; error?: unknown };

interface PendingObject {
  readonly object: KubeObject;
  readonly value: Buffer;
  /** The error of the last attempt. */
  error: unknown;
}

/** See `Registry.createInternal`. The objects are not cached, because most of them are never read from memory. */
export async function createInternal<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  objects: readonly T[],
): Promise<readonly unknown[]> {
  const creationTimestamp = toTimestamp(deps.clock.now());
  for (const { metadata } of objects) {
    metadata.uid = deps.random.uuid();
    metadata.creationTimestamp = creationTimestamp;
  }
  const values = encodeTogether(objects);
  const all = objects.map(
    (object, at): PendingObject => ({ object, value: values[at] as Buffer, error: undefined }),
  );
  let left = all;
  for (let attempt = 1; left.length > 0 && attempt <= MAX_ATTEMPTS; attempt += 1) {
    await store(deps.store, kind, left);
    left = left.filter(({ error }) => error instanceof RevisionMismatch);
  }
  return all.map(({ object, error }) => error && writeError(error, kind, object.metadata.name));
}

/** Tries each object once. Each namespace is read once, however many objects it receives. */
async function store(values: Store, kind: Kind, pending: readonly PendingObject[]): Promise<void> {
  const guards = new Map<string | undefined, NamespaceGuard>();
  for (const { object } of pending) {
    const { namespace } = object.metadata;
    if (!guards.has(namespace)) guards.set(namespace, await guardOf(values, kind, object));
  }
  const guardFor = ({ object }: PendingObject): NamespaceGuard => guards.get(object.metadata.namespace) ?? {};
  for (const each of pending) each.error = guardFor(each).error;
  const admitted = pending.filter(({ error }) => error === undefined);
  const answers = await values.createAll(admitted.map((each) => newValue(kind, each, guardFor(each).guard)));
  for (const [at, each] of admitted.entries()) each.error = answers[at];
}

function newValue(kind: Kind, { object, value }: PendingObject, guard: Guard | undefined): NewValue {
  const key = keyOf(kind, object.metadata);
  return guard ? { key, value, guard } : { key, value };
}

async function guardOf(store: Store, kind: Kind, object: KubeObject): Promise<NamespaceGuard> {
  try {
    const guard = await requireActiveNamespace(store, kind, object);
    return guard ? { guard } : {};
  } catch (error) {
    return { error };
  }
}

/**
 * See `Registry.restoreObject`. The object was admitted before, so only its status is reset to that of a new object.
 */
export async function restoreObject<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  body: T,
): Promise<ObjectRecord<T>> {
  const object = copyJson(body);
  kind.prepareForCreate(object, { now: deps.clock.now() });
  object.metadata = copyJson(body.metadata);
  try {
    return recordOf(object, await deps.store.create(keyOf(kind, object.metadata), encodeObject(object)));
  } catch (error) {
    throw writeError(error, kind, object.metadata.name);
  }
}
