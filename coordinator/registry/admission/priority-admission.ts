/** The Priority admission plugin (plugin/pkg/admission/priority): Pods get the priority of their PriorityClass. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  PREEMPT_LOWER_PRIORITY,
  type PriorityClass,
  SCHEDULING_GROUP,
  SYSTEM_CLASSES,
} from '../../../shared/kube/pods/priority-class.js';
import type { Kind } from '../../kinds/kind.js';
import type { Store } from '../../store/store.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import type { PriorityClasses } from '../registry.js';
import type { WriteOptions } from '../registry-options.js';
import { keyOf, prefixOf } from '../storage-keys.js';
import { assumedObject } from './namespace-lifecycle.js';
import { isPod } from './write-admission.js';

const CLASSES = { group: SCHEDULING_GROUP, resource: 'priorityclasses', namespaced: false };

/** The fields of a PodSpec that a PriorityClass decides. */
interface PodPriority {
  /** "": the Pod names no class, and no class is the default. */
  priorityClassName: string;
  priority: number;
  preemptionPolicy: string;
}

/**
 * Returns `classes` for one new Pod. The informer behind it may lag behind a client that has just created the class, so
 * a missing class is looked up in the store.
 */
export async function priorityFinder(
  store: Store,
  classes: PriorityClasses | undefined,
  object: KubeObject,
  { assumed }: Pick<WriteOptions, 'assumed'>,
): Promise<PriorityClasses | undefined> {
  if (!classes || !isPod(object)) return classes;
  const { priorityClassName: name } = object.spec;
  if (!name || SYSTEM_CLASSES.has(name) || classes.get({ name })) return classes;
  const found =
    assumedObject<PriorityClass>(assumed, 'PriorityClass', { name }) ?? (await stored(store, name));
  return found ? { get: () => found, list: () => classes.list() } : classes;
}

async function stored(store: Store, name: string): Promise<PriorityClass | undefined> {
  const value = await store.get(keyOf(CLASSES, { name }));
  return value && decodeShared<PriorityClass>(value.value, value.revision);
}

/**
 * Sets class name, priority and preemption policy of a new Pod, in place. If `classes` is absent, the Pod stays
 * unchanged. Throws 403 if the class does not exist, or if the Pod names other values than its class.
 */
export function setPodPriority(object: KubeObject, classes: PriorityClasses | undefined): void {
  if (!classes || !isPod(object)) return;
  const { spec } = object;
  const found = priorityOf(object, classes);
  const { priorityClassName, priority, preemptionPolicy } = found;
  if (spec.priority != null && spec.priority !== priority) {
    const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`;
    throw podForbidden(object, why);
  }
  if (spec.preemptionPolicy != null && spec.preemptionPolicy !== preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
    throw podForbidden(object, why);
  }
  if (priorityClassName) spec.priorityClassName = priorityClassName;
  spec.priority = priority;
  spec.preemptionPolicy = preemptionPolicy;
}

/**
 * Returns a function that tells whether a new Pod like `pod` would still get the same priority. A template for many
 * Pods asks it, because the class can be deleted or replaced, or another one can become the default.
 */
export function priorityCheck(pod: KubeObject, classes: PriorityClasses | undefined): () => boolean {
  if (!classes || !isPod(pod)) return () => true;
  const name = pod.spec.priorityClassName;
  const source = (): PriorityClass | undefined => (name ? classFor(name, classes) : defaultClass(classes));
  const before = source();
  return () => {
    const now = source();
    return now === before || (now !== undefined && before !== undefined && givesSame(now, before));
  };
}

function givesSame(a: PriorityClass, b: PriorityClass): boolean {
  return (
    a.metadata.name === b.metadata.name && a.value === b.value && a.preemptionPolicy === b.preemptionPolicy
  );
}

function priorityOf(pod: Pod, classes: PriorityClasses): PodPriority {
  const name = pod.spec.priorityClassName;
  const source = name ? classFor(name, classes) : defaultClass(classes);
  if (name && !source) throw podForbidden(pod, `no PriorityClass with name ${name} was found`);
  return {
    priorityClassName: source?.metadata.name ?? '',
    priority: source?.value ?? 0,
    preemptionPolicy: source?.preemptionPolicy ?? PREEMPT_LOWER_PRIORITY,
  };
}

/** Returns the priority of a Pod that is not admitted yet. 0 if its class does not exist: it is refused later. */
export function expectedPriority(pod: Pick<Pod, 'spec'>, classes: PriorityClasses): number {
  const { priority, priorityClassName: name } = pod.spec;
  return priority ?? (name ? classFor(name, classes) : defaultClass(classes))?.value ?? 0;
}

/** System classes count even before the first start has stored them. */
function classFor(name: string, classes: PriorityClasses): PriorityClass | undefined {
  return SYSTEM_CLASSES.get(name) ?? classes.get({ name });
}

/** Two clients may create two default classes at the same time. The one with the lowest value counts. */
export function defaultClass(classes: Pick<PriorityClasses, 'list'>): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const each of classes.list()) {
    if (each.globalDefault && (!found || each.value < found.value)) found = each;
  }
  return found;
}

function podForbidden({ metadata }: Pod, why: string): ApiError {
  const name = metadata.name || metadata.generateName || 'Unknown';
  return new ApiError('Forbidden', `pods "${name}" is forbidden: ${why}`, { name, kind: 'pods' });
}

/** Adds the check that only one PriorityClass is the default. A second one is refused (403). */
export async function withSingleDefaultClass<T extends WriteOptions>(
  store: Store,
  { group, resource }: Pick<Kind, 'group' | 'resource'>,
  options: T,
): Promise<T> {
  if (group !== CLASSES.group || resource !== CLASSES.resource) return options;
  const { items } = await store.list(prefixOf(CLASSES));
  const present = defaultClass({
    list: () => items.map(({ value, revision }) => decodeShared<PriorityClass>(value, revision)),
  });
  if (!present) return options;
  const { review } = options;
  return {
    ...options,
    review: (reviewed, next, current) => {
      review?.(reviewed, next, current);
      const { name } = present.metadata;
      if (!(next as PriorityClass).globalDefault || next.metadata.name === name) return;
      const refused = next.metadata.name || 'Unknown';
      throw new ApiError(
        'Forbidden',
        `priorityclasses.${SCHEDULING_GROUP} "${refused}" is forbidden: PriorityClass ${name} is already marked as default. Only one default can exist`,
        { name: refused, group: SCHEDULING_GROUP, kind: 'priorityclasses' },
      );
    },
  };
}
