/** What deps of ours make whole and many at a time, such as Events: encoded into one piece of memory and stored by one call. */
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

/** Tries after a namespace changed, before the writer hears of it. */
const MAX_ATTEMPTS = 8;

/** Whether a namespace takes new objects now. */
type NamespaceGuard = { guard?: Guard; error?: unknown };

/** One of the objects. */
interface PendingObject {
  readonly object: KubeObject;
  readonly value: Buffer;
  /** What it was last refused for. */
  error: unknown;
}

/** See `Registry.createInternal`. What nobody looks at in memory is not kept as an object. */
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

/** Tries each once. A namespace is asked once, however many objects it gets. */
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
 * Stores the object as it is, with the uid and creation time it has: it was admitted before. Its status begins as that of a new one.
 * Throws 409 when the name is taken.
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
