/** Binds the kinds to the store. The registry has no state, so several registries may share a store. */

import { systemRandom } from '../../shared/process/time/random.js';
import { CustomKinds } from '../kinds/custom-resources/custom-kinds.js';
import { eventKind } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { follow } from './reads/follow-kinds.js';
import { createdAt, getObject, listObjects } from './reads/read-objects.js';
import { watch } from './reads/watch-objects.js';
import type { Registry, RegistryDeps } from './registry.js';
import { resourcePath } from './storage-keys.js';
import { viewStore } from './views/view-store.js';
import { create, createFromTemplate, reviewFromTemplate } from './writes/create-object.js';
import { remove, removeCollection } from './writes/delete-object.js';
import { prepareTemplate } from './writes/object-template.js';
import { patch } from './writes/patch-object.js';
import { bind, confirmStopped, evict, preempt } from './writes/pod-verbs.js';
import { restoreObject } from './writes/restore-object.js';
import { modify, update, writeStatus } from './writes/update-object.js';

/** `random`: for uids and generated names; the default is the system's. */
export type RegistryOptions = Omit<RegistryDeps, 'random' | 'customKinds'> &
  Partial<Pick<RegistryDeps, 'random' | 'customKinds'>>;

/** Returns the registry over a store. The caller closes the store. */
export function createRegistry({
  random = systemRandom,
  customKinds = new CustomKinds(),
  ...options
}: RegistryOptions): Registry {
  const others: RegistryDeps = { ...options, random, customKinds };
  const ofEvents: RegistryDeps = { ...others, store: others.events ?? others.store };
  const views = new WeakMap<object, RegistryDeps>();
  /** Objects of a view are read and written through the view of the store. */
  const depsOf = (kind: Kind): RegistryDeps => {
    const { view } = kind;
    const deps = resourcePath(view?.storedAs ?? kind) === resourcePath(eventKind) ? ofEvents : others;
    if (!view) return deps;
    const known = views.get(view) ?? { ...deps, store: viewStore(deps, kind, view) };
    views.set(view, known);
    return known;
  };
  /** Supplies the first argument of a verb and keeps the verb's type parameters. */
  const verb =
    <A extends unknown[], R>(run: (deps: RegistryDeps, ...rest: A) => R) =>
    (...rest: A): R =>
      run(isKind(rest[0]) ? depsOf(rest[0]) : others, ...rest);
  return {
    kinds: others.kinds,
    allKinds: () => [...others.kinds, ...customKinds.list().map(({ kind }) => kind)],
    customKinds,
    caughtUp: async () => others.caughtUp?.(),
    get: verb(getObject),
    createdAt: verb(createdAt),
    list: verb(listObjects),
    watch: verb(watch),
    follow: verb(follow),
    create: verb(create),
    prepareTemplate: verb(prepareTemplate),
    createFromTemplate: verb(createFromTemplate),
    reviewFromTemplate: verb(reviewFromTemplate),
    update: verb(update),
    modify: verb(modify),
    writeStatus: verb(writeStatus),
    patch: verb(patch),
    delete: verb(remove),
    deleteCollection: verb(removeCollection),
    restoreObject: verb(restoreObject),
    bind: verb(bind),
    evict: verb(evict),
    preempt: verb(preempt),
    confirmStopped: verb(confirmStopped),
  };
}

/** True for verbs on objects of one kind, whose first argument is the kind. */
function isKind(argument: unknown): argument is Kind {
  return typeof argument === 'object' && argument !== null && 'resource' in argument && 'schema' in argument;
}
