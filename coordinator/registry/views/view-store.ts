/**
 * A store in which the objects of one stored kind appear as objects of another version, under keys of their own. All
 * verbs work on it as on any store, so a view needs no code of its own for patches, pages or watches.
 */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Kind } from '../../kinds/kind.js';
import type { Change, Store, StoredValue, StoreWatch } from '../../store/store.js';
import { encodeObject } from '../encoding/object-encoding.js';
import { prefixOf } from '../storage-keys.js';

type View = NonNullable<Kind['view']>;

/** Values per step while a page is converted. The event loop runs between two steps. */
const CONVERTED_PAGE = 500;

/** Returns the store as `kind` sees it. Keys of other kinds, such as the Namespace's, stay unchanged. */
export function viewStore(
  { store, clock }: { store: Store; clock: Pick<Clock, 'yieldToEventLoop'> },
  kind: Kind,
  view: View,
): Store {
  const keys = new ViewKeys(prefixOf(kind), prefixOf(view.storedAs));
  const toStored = (value: Buffer) => converted(value, (object) => view.toStored(object));
  const fromStored = (value: Buffer) => converted(value, (object) => view.fromStored(object));
  const shown = <T extends StoredValue>(stored: T): T => ({
    ...stored,
    key: keys.shown(stored.key),
    value: fromStored(stored.value),
  });
  const shownChange = ({ key, revision, value, previous }: Change): Change => ({
    key: keys.shown(key),
    revision,
    ...(value ? { value: fromStored(value) } : {}),
    ...(previous ? { previous: shown(previous) } : {}),
  });
  return {
    ...passedOn(store),
    get: async (key) => {
      const found = await store.get(keys.stored(key));
      return found && keys.isStored(found.key) ? shown(found) : found;
    },
    createdAt: (key) => store.createdAt(keys.stored(key)),
    list: async (prefix, { continue: from, ...options } = {}) => {
      const start = from ? { continue: { ...from, afterKey: keys.stored(from.afterKey) } } : {};
      const page = await store.list(keys.stored(prefix), { ...options, ...start });
      return { ...page, items: await convertedInSteps(page.items, shown, clock) };
    },
    create: (key, value, condition) => store.create(keys.stored(key), toStored(value), condition),
    createAll: (values) =>
      store.createAll(
        values.map((each) => ({ ...each, key: keys.stored(each.key), value: toStored(each.value) })),
      ),
    update: (key, value, condition) => store.update(keys.stored(key), toStored(value), condition),
    delete: (key, condition) => store.delete(keys.stored(key), condition),
    watch: (prefix, options) => watchOf(store.watch(keys.stored(prefix), options), shownChange),
  };
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

async function convertedInSteps(
  items: readonly StoredValue[],
  convert: (item: StoredValue) => StoredValue,
  clock: Pick<Clock, 'yieldToEventLoop'>,
): Promise<StoredValue[]> {
  const done: StoredValue[] = [];
  for (let from = 0; from < items.length; from += CONVERTED_PAGE) {
    if (from > 0) await clock.yieldToEventLoop();
    done.push(...items.slice(from, from + CONVERTED_PAGE).map(convert));
  }
  return done;
}

function converted(value: Buffer, convert: (object: KubeObject) => KubeObject): Buffer {
  return encodeObject(convert(JSON.parse(value.toString('utf8'))));
}

type ValueMethods = 'get' | 'createdAt' | 'list' | 'create' | 'createAll' | 'update' | 'delete' | 'watch';

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

function watchOf(source: StoreWatch, shown: (change: Change) => Change): StoreWatch {
  return {
    close: () => source.close(),
    async *[Symbol.asyncIterator]() {
      for await (const { changes, revision } of source) yield { changes: changes.map(shown), revision };
    },
  };
}
