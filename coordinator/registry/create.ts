/** create: POST. */
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '../../shared/kube/meta.js';
import { alreadyExists, badRequest } from '../../shared/kube/status.js';
import type { Kind } from '../kinds/kind.js';
import { type Guard, KeyExists, RevisionMismatch } from '../store/store.js';
import { admitCreate, nameObject } from './admission.js';
import { generateName } from './generate-name.js';
import { copyJson, isJsonMap } from './json-value.js';
import { keyOf } from './keys.js';
import { openNamespace } from './namespace-gate.js';
import { encodeObject } from './object-bytes.js';
import { recordOf } from './object-record.js';
import type { ObjectRecord, WriteOptions } from './registry.js';
import type { RegistryParts } from './registry-parts.js';
import { methodNotAllowed, writeError } from './store-errors.js';

/** Tries with another generated name, or after the namespace changed, before the client hears of it. */
const MAX_ATTEMPTS = 8;

/** Stores a new object. Throws 400, 403 (namespace ending), 404 (namespace), 409, 413 and 422. */
export async function create<T extends KubeObject>(
  parts: RegistryParts,
  kind: Kind<T>,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions = {},
): Promise<ObjectRecord<T>> {
  if (kind.reader) throw methodNotAllowed();
  const object = await admitInNamespace(parts, kind, namespace, body, options);
  const isGenerated = object.metadata.name !== nameIn(body);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return recordOf(object, await store(parts, kind, object, options));
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !canRetry(error, isGenerated)) {
        throw writeError(error, kind, object.metadata.name);
      }
      if (error instanceof KeyExists) nameObject(kind, object, freshName(parts, object));
    }
  }
}

function canRetry(error: unknown, isGenerated: boolean): boolean {
  return error instanceof RevisionMismatch || (error instanceof KeyExists && isGenerated);
}

function freshName(parts: RegistryParts, { metadata }: KubeObject): string {
  return generateName(metadata.generateName ?? '', parts.random);
}

function metadataOf(body: unknown): Record<string, unknown> {
  return isJsonMap(body) && isJsonMap(body.metadata) ? body.metadata : {};
}

function nameIn(body: unknown): unknown {
  return metadataOf(body).name;
}

/** The namespace is looked at first, as upstream: a mistake in an object for a missing one is a 404. */
async function admitInNamespace<T extends KubeObject>(
  parts: RegistryParts,
  kind: Kind<T>,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions,
): Promise<T> {
  const own = metadataOf(body).namespace;
  const place = namespace ?? (kind.namespaced && typeof own === 'string' ? own : undefined);
  if (kind.namespaced && !place) {
    throw badRequest('an empty namespace may not be set during creation');
  }
  if (kind.namespaced && place) await openNamespace(parts.store, kind, place, String(nameIn(body) ?? ''));
  const creation = {
    namespace: place,
    now: parts.clock.now(),
    uid: randomUUID(),
    generateName: (base: string) => generateName(base, parts.random),
  };
  return admitCreate(kind, copyJson(body), creation, options);
}

async function store<T extends KubeObject>(
  parts: RegistryParts,
  kind: Kind<T>,
  object: T,
  options: WriteOptions,
): Promise<number> {
  const { name, namespace } = object.metadata;
  const key = keyOf(kind, object.metadata);
  let guard: Guard | undefined;
  if (kind.namespaced && namespace) guard = await openNamespace(parts.store, kind, namespace, name);
  if (!options.dryRun) return parts.store.create(key, encodeObject(object), guard ? { guard } : {});
  if (await parts.store.get(key)) throw alreadyExists(kind, name);
  return 0;
}
