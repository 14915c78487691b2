/** Binds the kinds to the store. The registry holds no state of its own: any number of them may share a store. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { type Random, systemRandom } from '../../shared/process/time/random.js';
import type { Kind } from '../kinds/kind.js';
import type { Store } from '../store/store.js';
import type { FindAccount } from './admission/service-account-admission.js';
import { follow } from './reads/follow-kinds.js';
import { getObject, listObjects } from './reads/read-objects.js';
import { watch } from './reads/watch-objects.js';
import type { Registry, RegistryDeps } from './registry.js';
import { keyOf } from './storage-keys.js';
import { createInternal, restoreObject } from './writes/create-internal.js';
import { create, createFromTemplate, reviewFromTemplate } from './writes/create-object.js';
import { remove, removeCollection } from './writes/delete-object.js';
import { AdmittedTemplate } from './writes/object-template.js';
import { patch } from './writes/patch-object.js';
import { bind, confirmStopped, evict } from './writes/pod-verbs.js';
import { modify, update, writeStatus } from './writes/update-object.js';

export interface RegistryOptions {
  store: Store;
  kinds: readonly Kind[];
  clock: Clock;
  log: Logger;
  /** For uids and generated names; absent = real chance. */
  random?: Random;
  /** Absent: Pods get no tokens of accounts. */
  findAccount?: FindAccount;
}

/** The registry over a store. The caller closes the store. */
export function createRegistry({ random: chance = systemRandom, ...options }: RegistryOptions): Registry {
  const parts: RegistryDeps = { ...options, random: chance };
  return {
    kinds: options.kinds,
    get: (kind, ref) => getObject(parts, kind, ref),
    createdAt: (kind, ref) => options.store.createdAt(keyOf(kind, ref)),
    list: (kind, request) => listObjects(parts, kind, request),
    watch: (kind, request) => watch(parts, kind, request),
    follow: (kinds, revision) => follow(parts, kinds, revision),
    create: (kind, namespace, object, write) => create(parts, kind, namespace, object, write),
    createInternal: (kind, objects) => createInternal(parts, kind, objects),
    prepareTemplate: (kind, namespace, body, fit, text) =>
      new AdmittedTemplate({ kind, namespace, body, customize: fit, text }, parts),
    createFromTemplate: (model, text) => createFromTemplate(parts, model, text),
    reviewFromTemplate: (model, text) => reviewFromTemplate(parts, model, text),
    update: (kind, ref, object, write) => update(parts, kind, ref, object, write),
    modify: (kind, ref, change, write) => modify(parts, kind, ref, change, write),
    writeStatus: (kind, ref, statusOf, preconditions) =>
      writeStatus(parts, kind, ref, statusOf, preconditions),
    patch: (kind, ref, change, write) => patch(parts, kind, ref, change, write),
    delete: (kind, ref, how) => remove(parts, kind, ref, how),
    deleteCollection: (kind, selection, how) => removeCollection(parts, kind, selection, how),
    restoreObject: (kind, object) => restoreObject(parts, kind, object),
    bind: (pod, nodeName, preconditions) => bind(parts, pod, nodeName, preconditions),
    evict: (pod, how) => evict(parts, pod, how),
    confirmStopped: (pod, uid) => confirmStopped(parts, pod, uid),
  };
}
