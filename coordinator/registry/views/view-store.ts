/**
 * A store in which the objects of one stored kind appear as objects of another version, under keys of their own. All
 * verbs work on it as on any store, so a view needs no code of its own for patches, pages or watches.
 */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ConversionWebhook, Kind } from '../../kinds/kind.js';
import type { Change, Store, StoredValue, StoreWatch } from '../../store/store.js';
import { encodeObject } from '../encoding/object-encoding.js';
import { prefixOf } from '../storage-keys.js';
import { type CallsWebhook, convertByWebhook } from './webhook-conversion.js';

type View = NonNullable<Kind['view']>;

/** Values per step while a page is converted. The event loop runs between two steps. */
const CONVERTED_PAGE = 500;

interface ViewDeps {
  store: Store;
  clock: Pick<Clock, 'yieldToEventLoop'>;
  /** Absent: objects whose definition has a conversion webhook cannot be converted. */
  webhooks?: CallsWebhook;
}

/** Returns the store as `kind` sees it. Keys of other kinds, such as the Namespace's, stay unchanged. */
export function viewStore(deps: ViewDeps, kind: Kind, view: View): Store {
  const { store } = deps;
  const keys = new ViewKeys(prefixOf(kind), prefixOf(view.storedAs));
  const values = new ViewValues(deps, view);
  const shown = async (items: readonly StoredValue[]): Promise<StoredValue[]> => {
    const converted = await values.shown(items);
    return items.map((item, index) => ({
      ...item,
      key: keys.shown(item.key),
      value: converted[index] ?? item.value,
    }));
  };
  return {
    ...passedOn(store),
    get: async (key) => {
      const found = await store.get(keys.stored(key));
      return found && keys.isStored(found.key) ? (await shown([found]))[0] : found;
    },
    createdAt: (key) => store.createdAt(keys.stored(key)),
    list: async (prefix, { continue: from, ...options } = {}) => {
      const start = from ? { continue: { ...from, afterKey: keys.stored(from.afterKey) } } : {};
      const page = await store.list(keys.stored(prefix), { ...options, ...start });
      return { ...page, items: await shown(page.items) };
    },
    create: async (key, value, condition) =>
      store.create(keys.stored(key), await values.stored(value), condition),
    update: async (key, value, condition) =>
      store.update(keys.stored(key), await values.stored(value), condition),
    delete: (key, condition) => store.delete(keys.stored(key), condition),
    watch: (prefix, options) =>
      watchOf(store.watch(keys.stored(prefix), options), (changes) => shownChanges(changes, keys, shown)),
  };
}

/** Converts values, in steps between which the event loop runs. */
class ViewValues {
  constructor(
    private readonly deps: ViewDeps,
    private readonly view: View,
  ) {}

  /** Values of the store as the view shows them. */
  async shown(values: readonly Pick<StoredValue, 'value'>[]): Promise<Buffer[]> {
    const done: Buffer[] = [];
    for (let from = 0; from < values.length; from += CONVERTED_PAGE) {
      if (from > 0) await this.deps.clock.yieldToEventLoop();
      const objects = values.slice(from, from + CONVERTED_PAGE).map(({ value }) => decoded(value));
      const { conversion } = this.view;
      const own = conversion ? await this.#convert(objects, conversion, conversion.ownVersion) : objects;
      done.push(...own.map((object) => encodeObject(this.view.fromStored(object))));
    }
    return done;
  }

  async stored(value: Buffer): Promise<Buffer> {
    const { conversion } = this.view;
    const object = this.view.toStored(decoded(value));
    const objects = conversion
      ? await this.#convert([object], conversion, conversion.storedVersion)
      : [object];
    return encodeObject(objects[0] ?? object);
  }

  #convert(
    objects: readonly KubeObject[],
    conversion: ConversionWebhook,
    apiVersion: string,
  ): Promise<KubeObject[]> {
    return convertByWebhook(this.deps.webhooks, conversion, objects, apiVersion);
  }
}

function decoded(value: Buffer): KubeObject {
  return JSON.parse(value.toString('utf8'));
}

/** Converts all values of a batch together, because a webhook converts many objects in one call. */
async function shownChanges(
  changes: readonly Change[],
  keys: ViewKeys,
  shown: (items: readonly StoredValue[]) => Promise<StoredValue[]>,
): Promise<Change[]> {
  const items = changes.flatMap(({ key, revision, value, previous }) => [
    ...(value ? [{ key, revision, value }] : []),
    ...(previous ? [previous] : []),
  ]);
  const results = (await shown(items))[Symbol.iterator]();
  return changes.map(({ key, revision, value, previous }) => {
    const next = value && (results.next().value as StoredValue);
    const before = previous && (results.next().value as StoredValue);
    return {
      ...{ key: keys.shown(key), revision },
      ...(next ? { value: next.value } : {}),
      ...(before ? { previous: before } : {}),
    };
  });
}

/** Translates between the keys of the view and those of the stored kind. */
class ViewKeys {
  constructor(
    private readonly view: string,
    private readonly own: string,
  ) {}

  stored(key: string): string {
    return key.startsWith(this.view) ? this.own + key.slice(this.view.length) : key;
  }

  isStored(key: string): boolean {
    return key.startsWith(this.own);
  }

  shown(key: string): string {
    return this.isStored(key) ? this.view + key.slice(this.own.length) : key;
  }
}

type ValueMethods = 'get' | 'createdAt' | 'list' | 'create' | 'update' | 'delete' | 'watch';

/** Returns the methods that handle neither keys nor values. */
function passedOn(store: Store): Omit<Store, ValueMethods> {
  return {
    revision: () => store.revision(),
    compact: (revision) => store.compact(revision),
    clusterUID: () => store.clusterUID(),
    epoch: () => store.epoch(),
    pastEpochs: () => store.pastEpochs(),
    isUnconfirmed: () => store.isUnconfirmed(),
    confirmRestore: () => store.confirmRestore(),
    close: () => store.close(),
  };
}

function watchOf(
  source: StoreWatch,
  shown: (changes: readonly Change[]) => Promise<readonly Change[]>,
): StoreWatch {
  return {
    close: () => source.close(),
    async *[Symbol.asyncIterator]() {
      for await (const { changes, revision } of source) yield { changes: await shown(changes), revision };
    },
  };
}
