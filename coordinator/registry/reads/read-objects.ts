/** The verbs get and list. */

import { badRequest, notFound } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { Expired, type Store, type StoredList, type StoredValue } from '../../store/store.js';
import { StoredRecord } from '../encoding/object-record.js';
import { StoredEvent } from '../events/event-record.js';
import type { ObjectRecord, RecordList, RegistryDeps } from '../registry.js';
import { continueExpired, readError } from '../registry-errors.js';
import type { ListRequest } from '../registry-options.js';
import { keyOf, prefixOf } from '../storage-keys.js';
import { computedRecord, readerIn } from './computed-objects.js';
import { decodeContinue, encodeContinue, NEWEST_REVISION } from './continue-token.js';
import { type CompiledSelection, compileSelection } from './object-selection.js';
import { checkMatch, parseResourceVersion, refuseFuture } from './resource-version.js';

/** Values per step while a selector filters. The event loop runs between two steps. */
const SCAN_PAGE = 500;

/** Returns the stored object. Throws a 404. */
export async function getObject<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
): Promise<ObjectRecord<T>> {
  const reader = readerIn(kind, ref.namespace);
  if (reader) {
    const object = reader.get(ref.name);
    if (!object) throw notFound(kind, ref.name);
    return computedRecord(kind, object, await deps.store.revision());
  }
  const stored = await deps.store.get(keyOf(kind, ref));
  if (!stored) throw notFound(kind, ref.name);
  return new StoredRecord(stored.value, stored.revision);
}

/** See `Registry.createdAt`. */
export function createdAt(deps: RegistryDeps, kind: Kind, ref: ObjectRef): Promise<number | undefined> {
  return deps.store.createdAt(keyOf(kind, ref));
}

/** Returns the objects that match, in key order, at one revision. Throws 400 (selectors, token), 410 and 504. */
export async function listObjects<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  request: ListRequest = {},
): Promise<RecordList<T>> {
  const selection = compileSelection(kind, request);
  checkMatch(request);
  const revision = parseResourceVersion(request.resourceVersion);
  await refuseFuture(deps.store, revision);
  if (readerIn(kind, request.namespace)) return listComputed(deps, kind, selection);
  const isPresent = !request.continue && request.resourceVersionMatch !== 'Exact';
  if (selection.only && isPresent) return listOne(deps, kind, selection.only, selection);
  try {
    const stored = await scan(deps, kind, request, selection);
    if (!kind.reader || request.namespace !== undefined || stored.continue) return stored;
    // A list of all namespaces appends the computed objects to its last page.
    const computed = await listComputed(deps, kind, selection);
    return { ...stored, records: [...stored.records, ...computed.records] };
  } catch (error) {
    throw pageError(error, request);
  }
}

/** Returns the error of a failed list. The 410 of a further page has a token for the rest of the list. */
function pageError(error: unknown, request: ListRequest): unknown {
  if (!(error instanceof Expired) || !request.continue) return readError(error);
  const { after } = decodeContinue(request.continue);
  return continueExpired(encodeContinue({ after, revision: NEWEST_REVISION }));
}

async function listComputed<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  selection: CompiledSelection<T>,
): Promise<RecordList<T>> {
  const revision = await deps.store.revision();
  const records = (kind.reader?.list() ?? [])
    .map((object) => computedRecord(kind, object, revision))
    .filter((record) => selection.matches(keyOf(kind, record.object().metadata), record));
  return { records, resourceVersion: String(revision) };
}

/** Reads the only object that can match: one key instead of a scan. */
async function listOne<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  selection: CompiledSelection<T>,
): Promise<RecordList<T>> {
  // Read the revision first. A watch from an older revision repeats an event; from a newer revision it would miss one.
  const revision = await deps.store.revision();
  const stored = await deps.store.get(keyOf(kind, ref));
  const records = stored ? [new StoredRecord<T>(stored.value, stored.revision)] : [];
  const resourceVersion = String(Math.max(revision, stored?.revision ?? 0));
  return {
    records: records.filter((record) => selection.matches(keyOf(kind, ref), record)),
    resourceVersion,
  };
}

interface Position {
  afterKey: string;
  revision: number;
}

/** Returns where the list begins, or undefined for the first key of the present state. */
async function startOf(store: Store, prefix: string, request: ListRequest): Promise<Position | undefined> {
  if (request.continue) {
    if (parseResourceVersion(request.resourceVersion) > 0) {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    const { after, revision } = decodeContinue(request.continue);
    const isInconsistent = revision === NEWEST_REVISION;
    return { afterKey: prefix + after, revision: isInconsistent ? await store.revision() : revision };
  }
  if (request.resourceVersionMatch !== 'Exact') return undefined;
  // No object has the prefix itself as its key, so "after the prefix" is the whole list at that revision.
  return { afterKey: prefix, revision: parseResourceVersion(request.resourceVersion) };
}

async function scan<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  request: ListRequest,
  selection: CompiledSelection<T>,
): Promise<RecordList<T>> {
  const prefix = prefixOf(kind, request.namespace);
  const limit = request.limit && request.limit > 0 ? request.limit : Number.POSITIVE_INFINITY;
  const pageSize = selection.everything ? limit : SCAN_PAGE;
  const records: ObjectRecord<T>[] = [];
  let resourceVersion: string | undefined;
  const start = await startOf(deps.store, prefix, request);
  for (let from = start; ; ) {
    const page = await readPage(deps.store, prefix, pageSize, from, start === undefined);
    // A watch from the first page's revision repeats changes, or gets a 410. From a later one it would miss changes.
    resourceVersion ??= String(page.revision);
    const taken = take(page.items, selection, limit - records.length, records);
    const last = page.items[taken - 1];
    const rest = page.items.length - taken + (page.remaining ?? 0);
    if (!last || rest === 0) return { records, resourceVersion };
    from = { afterKey: last.key, revision: page.revision };
    if (records.length < limit) {
      await deps.clock.yieldToEventLoop();
      continue;
    }
    const point = { after: last.key.slice(prefix.length), revision: page.revision };
    const remaining = selection.everything ? { remainingItemCount: rest } : {};
    return { records, resourceVersion, continue: encodeContinue(point), ...remaining };
  }
}

/** `canMove`: after so many writes that the revision is too old, the list continues at the newest revision. */
async function readPage(
  store: Store,
  prefix: string,
  limit: number,
  from: Position | undefined,
  canMove: boolean,
): Promise<StoredList> {
  const size = Number.isFinite(limit) ? { limit } : {};
  try {
    return await store.list(prefix, { ...size, ...(from ? { continue: from } : {}) });
  } catch (error) {
    if (!from || !canMove || !(error instanceof Expired)) throw error;
    const revision = await store.revision();
    return readPage(store, prefix, limit, { afterKey: from.afterKey, revision }, canMove);
  }
}

function recordOfItem<T extends KubeObject>(item: StoredValue): ObjectRecord<T> {
  // The caller lists objects of type T.
  if (item instanceof StoredEvent) return item.record() as ObjectRecord<T>;
  return new StoredRecord<T>(item.value, item.revision);
}

/** Appends matching items to `records` until `room` is used up. Returns how many items were checked. */
function take<T extends KubeObject>(
  items: readonly StoredValue[],
  selection: CompiledSelection<T>,
  room: number,
  records: ObjectRecord<T>[],
): number {
  let found = 0;
  for (const [index, item] of items.entries()) {
    const record = recordOfItem<T>(item);
    if (!selection.matches(item.key, record)) continue;
    records.push(record);
    found += 1;
    if (found === room) return index + 1;
  }
  return items.length;
}
