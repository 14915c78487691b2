/** The verb create (POST), and creations from a template. */

import { alreadyExists } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { type Guard, KeyExists, RevisionMismatch } from '../../store/store.js';
import type { AdmissionTarget } from '../admission/admission-matching.js';
import { depsFor } from '../admission/bootstrap-exemption.js';
import { refuseBeyondLimits, setLimitDefaults } from '../admission/limit-range-admission.js';
import { requireActiveNamespace } from '../admission/namespace-lifecycle.js';
import { withPodSecurity } from '../admission/pod-security-admission.js';
import { withPolicies } from '../admission/policy-admission.js';
import { priorityFinder, setPodPriority, withSingleDefaultClass } from '../admission/priority-admission.js';
import {
  accountFinder,
  mountServiceAccountToken,
  refuseMissingAccount,
} from '../admission/service-account-admission.js';
import { placeInNamespace } from '../admission/typed-body.js';
import { matchingWebhooks, mutate, validateByWebhooks } from '../admission/webhook-admission.js';
import { admitCreate, generateName, nameObject, readObject } from '../admission/write-admission.js';
import { allocateFor, isAllocated } from '../allocation/allocated-write.js';
import { cacheWritten } from '../encoding/decoded-objects.js';
import { copyJson } from '../encoding/json-value.js';
import { encodeObject } from '../encoding/object-encoding.js';
import { recordOf } from '../encoding/object-record.js';
import { trackCreation } from '../managed-fields/track-write.js';
import { refuseComputed } from '../reads/computed-objects.js';
import type { Allocation, ObjectRecord, ObjectTemplate, RegistryDeps } from '../registry.js';
import { writeError } from '../registry-errors.js';
import type { WriteOptions } from '../registry-options.js';
import { keyOf } from '../storage-keys.js';

/** Attempts with another generated name, or after the namespace changed, before the error is returned. */
const MAX_ATTEMPTS = 8;

/** A body to create, and how to set the ownership of its fields. */
interface NewObject<T extends KubeObject> {
  namespace: string | undefined;
  body: unknown;
  /** Sets managedFields of `object`, in place. `sent` is the object without what the server generates. */
  track: (object: T, sent: T, now: number) => void;
}

/** Stores a new object. Throws 400, 403 (terminating namespace), 404 (namespace), 409, 413 and 422. */
export function create<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions = {},
): Promise<ObjectRecord<T>> {
  const track = (object: T, sent: T, now: number) => trackCreation(kind, object, sent, options, now);
  return createTracked(depsFor(deps, options), kind, { namespace, body, track }, options);
}

/** Like `create`, with ownership of fields set by `track`. */
export async function createTracked<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  { namespace, body, track }: NewObject<T>,
  options: WriteOptions,
): Promise<ObjectRecord<T>> {
  refuseComputed(kind, namespace);
  let object = readObject(kind, copyJson(body), options);
  placeInNamespace(kind, object, namespace);
  const isGenerated = !object.metadata.name;
  const guard = await requireActiveNamespace(deps.store, kind, object, options);
  const generate = (base: string) => generateName(base, deps.random.random);
  const findAccount = await accountFinder(deps.store, deps.findAccount, object, options);
  mountServiceAccountToken(object, findAccount, deps.random.random);
  setPodPriority(object, await priorityFinder(deps.store, deps.priorityClasses, object, options));
  setLimitDefaults(deps, object);
  const webhooks = matchingWebhooks(deps, targetOf(kind, object));
  if (webhooks) {
    const name = object.metadata.name ?? '';
    const changed = await mutate(deps, webhooks, { name, object }, options);
    if (changed !== object) {
      object = readObject(kind, changed, {});
      placeInNamespace(kind, object, namespace);
    }
  }
  const secured = await withPodSecurity(deps.store, kind, object.metadata.namespace, options);
  const classed = await withSingleDefaultClass(deps.store, kind, secured);
  const reviewed = await withPolicies(deps, kind, object.metadata.namespace, {
    operation: 'CREATE',
    options: classed,
  });
  const creation = { now: deps.clock.now(), uid: deps.random.uuid(), generateName: generate };
  const sent = kind.disownsGenerated && options.fieldManager !== undefined ? copyJson(object) : object;
  admitCreate(kind, object, creation, reviewed);
  refuseBeyondLimits(deps, kind, object);
  if (webhooks) await validateByWebhooks(deps, webhooks, { name: object.metadata.name, object }, options);
  track(object, sent, creation.now);
  if (isAllocated(kind)) await deps.services?.ready();
  await deps.quotas?.ready();
  const allocation = allocateFor(deps, kind, object, undefined);
  let revision: number | undefined;
  let charged: Allocation | undefined;
  try {
    charged = deps.quotas?.charge(kind as Kind, object, undefined);
    if (options.dryRun) return recordOf(object, await refuseTaken(deps, kind, object));
    revision = await store(deps, kind, object, guard, isGenerated);
    return recordOf(object, revision);
  } finally {
    allocation.settle(revision);
    charged?.settle(revision);
  }
}

function targetOf(kind: Kind, { metadata }: KubeObject): AdmissionTarget {
  return { kind, operation: 'CREATE', subresource: '', namespace: metadata.namespace ?? '' };
}

/** See `Registry.reviewFromTemplate`. */
export async function reviewFromTemplate<T extends KubeObject>(
  deps: RegistryDeps,
  template: ObjectTemplate<T>,
  text: string,
  detail?: string,
): Promise<T> {
  const { object } = template.render(text, detail);
  await admitRendered(deps, template.kind, object);
  return object;
}

/** Checks every rendered object, because namespace, account and Pod Security level may have changed. */
async function admitRendered<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  object: T,
): Promise<Guard | undefined> {
  const guard = await requireActiveNamespace(deps.store, kind, object);
  refuseMissingAccount(object, deps.findAccount);
  refuseBeyondLimits(deps, kind, object);
  const { namespace } = object.metadata;
  const secured = await withPodSecurity<WriteOptions>(deps.store, kind, namespace, {});
  const { review } = await withPolicies(deps, kind, namespace, { operation: 'CREATE', options: secured });
  review?.(kind, object, undefined);
  return guard;
}

/** Stores another object of a template, under a free name. Throws 403 and 404 (namespace), 409 and 413. */
export async function createFromTemplate<T extends KubeObject>(
  deps: RegistryDeps,
  template: ObjectTemplate<T>,
  text: string,
  detail?: string,
): Promise<ObjectRecord<T>> {
  const { kind } = template;
  for (let attempt = 1; ; attempt += 1) {
    const { object, encoded } = template.render(text, detail);
    if (matchingWebhooks(deps, targetOf(kind, object))) {
      return create(deps, kind, object.metadata.namespace, object);
    }
    const guard = await admitRendered(deps, kind, object);
    cacheWritten(encoded, object);
    const charged = deps.quotas?.charge(kind as Kind, object, undefined);
    let revision: number | undefined;
    try {
      const key = keyOf(kind, object.metadata);
      revision = await deps.store.create(key, encoded, guard ? { guard } : {});
      return recordOf(object, revision);
    } catch (error) {
      const mayPass = error instanceof KeyExists || error instanceof RevisionMismatch;
      if (!mayPass || attempt === MAX_ATTEMPTS) throw writeError(error, kind, object.metadata.name);
    } finally {
      charged?.settle(revision);
    }
  }
}

/** A dry run's replacement for storing. Returns revision 0. */
async function refuseTaken(deps: RegistryDeps, kind: Kind, { metadata }: KubeObject): Promise<number> {
  if (await deps.store.get(keyOf(kind, metadata))) throw alreadyExists(kind, metadata.name);
  return 0;
}

async function store<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  object: T,
  firstGuard: Guard | undefined,
  isGenerated: boolean,
): Promise<number> {
  const { metadata } = object;
  for (let attempt = 1, guard = firstGuard; ; attempt += 1) {
    try {
      const encoded = encodeObject(object);
      cacheWritten(encoded, object);
      return await deps.store.create(keyOf(kind, metadata), encoded, guard ? { guard } : {});
    } catch (error) {
      const nameIsTaken = error instanceof KeyExists && isGenerated;
      if (attempt === MAX_ATTEMPTS || !(nameIsTaken || error instanceof RevisionMismatch)) {
        throw writeError(error, kind, metadata.name);
      }
      if (nameIsTaken)
        nameObject(kind, object, generateName(metadata.generateName ?? '', deps.random.random));
      guard = await requireActiveNamespace(deps.store, kind, object);
    }
  }
}
