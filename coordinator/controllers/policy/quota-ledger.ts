/**
 * The usage of all ResourceQuotas, counted with each change of an object. Admission charges a write here before it is
 * stored, without an await between check and charge, so concurrent writes cannot exceed a quota together.
 */
import { ApiError, qualifiedResource } from '../../../shared/kube/objects/api-status.js';
import { type KubeObject, type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import type { Amounts } from '../../../shared/kube/pods/pod-requests.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { ResourceQuota } from '../../../shared/kube/policy/quota-types.js';
import { type CountedKind, quotaCharge, quotaUsage } from '../../decisions/policy/quota-usage.js';
import { BY_NAMESPACE, type Informer, type Informers } from '../../informers/informer.js';
import type { Kind } from '../../kinds/kind.js';
import type { Allocation, Quotas } from '../../registry/registry.js';

/** The counted usage of one quota, for one spec. */
interface CountedQuota {
  quota: ResourceQuota;
  spec: string;
  used: Record<string, number>;
}

/** Usage of a write whose object the informers do not have yet. */
interface PendingCharge {
  /** The revision that the write replaces; 0 for a create. A write of another base fails. */
  base: number;
  deltas: ReadonlyMap<string, Amounts>;
}

const NO_QUOTAS: ReadonlyMap<string, CountedQuota> = new Map();
const NOTHING: Allocation = { settle: () => undefined };

function add(used: Record<string, number>, amounts: Amounts, sign: 1 | -1): void {
  for (const [name, amount] of Object.entries(amounts)) used[name] = (used[name] ?? 0) + sign * amount;
}

export class QuotaLedger implements Quotas {
  readonly #informers: Informers;
  /** Namespaced kinds whose objects are counted. A custom kind is added when its definition is established. */
  readonly #kinds: Kind[];
  /** By namespace and key of the quota. A namespace without quotas has no entry. */
  readonly #counted = new Map<string, Map<string, CountedQuota>>();
  /** By uid of the object that is about to be stored. Several writes of one object may be in flight. */
  readonly #pending = new Map<string, Set<PendingCharge>>();
  #onUsage: (quotaKey: string) => void = () => undefined;

  /** `kinds`: all built-in kinds. */
  constructor(informers: Informers, kinds: readonly Kind[]) {
    this.#informers = informers;
    this.#kinds = kinds.filter(({ namespaced, kind }) => namespaced && kind !== 'Event');
    // Quotas first, so that a quota is counted before the change of an object that it counts.
    informers.resourceQuotas.onChange(({ previous, current }) => this.#quotaChanged(previous, current));
    for (const kind of this.#kinds) this.#follow(kind, informers.ofKind(kind));
    informers.onCustomKind(({ kind, informer }) => {
      if (kind.namespaced) this.#addCustom(kind, informer);
    });
  }

  /** A definition that was deleted and created again has a new descriptor. */
  #addCustom(kind: Kind, informer: Informer<KubeObject>): void {
    const at = this.#kinds.findIndex((one) => one.group === kind.group && one.resource === kind.resource);
    this.#kinds.splice(at < 0 ? this.#kinds.length : at, at < 0 ? 0 : 1, kind);
    this.#follow(kind, informer);
  }

  #follow(kind: Kind, informer: Informer<KubeObject> | undefined): void {
    informer?.onChange(({ previous, current }) => this.#objectChanged(kind, previous, current));
  }

  /** All caches advance together, so when the cache of quotas is synced, the caches of the counted kinds are too. */
  ready(): Promise<void> {
    return this.#informers.resourceQuotas.synced();
  }

  /** `listener` receives the key of a quota whose usage has changed. */
  onUsage(listener: (quotaKey: string) => void): void {
    this.#onUsage = listener;
  }

  /** Returns the usage of a quota without writes in flight, or undefined if there is no such quota. */
  countedUsage(quota: ObjectRef): Amounts | undefined {
    return this.#countedIn(quota.namespace).get(refText(quota))?.used;
  }

  charge(kind: Kind, next: KubeObject, current: KubeObject | undefined): Allocation {
    const { namespace = '', uid = '' } = next.metadata;
    if (this.#counted.size === 0 || !kind.namespaced || kind.kind === 'Event') return NOTHING;
    // A static Pod runs already. Without its mirror, users would not see it.
    if (staticPodUid(next) !== undefined) return NOTHING;
    const deltas = new Map<string, Amounts>();
    for (const [key, { quota, used }] of this.#countedIn(namespace)) {
      const all = this.#withPending(key, used);
      const { delta, refusal } = quotaCharge(quota, all, kind, next, current);
      if (refusal !== undefined) throw forbidden(kind, next, refusal);
      if (Object.keys(delta).length > 0) deltas.set(key, delta);
    }
    if (deltas.size === 0 || uid === '') return NOTHING;
    const charge: PendingCharge = { base: Number(current?.metadata.resourceVersion ?? 0), deltas };
    const ofObject = this.#pending.get(uid) ?? new Set();
    this.#pending.set(uid, ofObject.add(charge));
    return { settle: (revision) => this.#settle(uid, charge, revision) };
  }

  /** Normally the change of the object ends the charge. An object that was deleted at once may not be seen. */
  #settle(uid: string, charge: PendingCharge, revision: number | undefined): void {
    const end = () => this.#endCharges(uid, (one) => one === charge);
    if (revision === undefined) end();
    else void this.#informers.waitFor(revision).then(end);
  }

  #withPending(key: string, used: Amounts): Amounts {
    if (this.#pending.size === 0) return used;
    const all = { ...used };
    for (const charges of this.#pending.values()) {
      for (const { deltas } of charges) add(all, deltas.get(key) ?? {}, 1);
    }
    return all;
  }

  #endCharges(uid: string, isEnded: (charge: PendingCharge) => boolean): void {
    const charges = this.#pending.get(uid);
    if (!charges) return;
    for (const charge of charges) if (isEnded(charge)) charges.delete(charge);
    if (charges.size === 0) this.#pending.delete(uid);
  }

  #countedIn(namespace = ''): ReadonlyMap<string, CountedQuota> {
    return this.#counted.get(namespace) ?? NO_QUOTAS;
  }

  #quotaChanged(previous: ResourceQuota | undefined, current: ResourceQuota | undefined): void {
    const quota = current ?? previous;
    if (!quota) return;
    const { namespace = '' } = quota.metadata;
    const key = refText(quota.metadata);
    const ofNamespace = this.#counted.get(namespace) ?? new Map<string, CountedQuota>();
    if (!current) ofNamespace.delete(key);
    else {
      const known = ofNamespace.get(key);
      const spec = JSON.stringify(current.spec ?? {});
      if (known?.spec === spec) known.quota = current;
      else ofNamespace.set(key, { quota: current, spec, used: this.#count(current) });
    }
    if (ofNamespace.size === 0) this.#counted.delete(namespace);
    else this.#counted.set(namespace, ofNamespace);
    this.#onUsage(key);
  }

  /** Counts all objects of the namespace, once for each quota and spec. */
  #count(quota: ResourceQuota): Record<string, number> {
    const used: Record<string, number> = {};
    const { namespace = '' } = quota.metadata;
    for (const kind of this.#kinds) {
      for (const object of this.#informers.ofKind(kind)?.indexed(BY_NAMESPACE, namespace) ?? []) {
        add(used, quotaUsage(quota, kind, object), 1);
      }
    }
    return used;
  }

  #objectChanged(kind: CountedKind, previous: KubeObject | undefined, current: KubeObject | undefined): void {
    if (this.#counted.size === 0) return;
    const object = current ?? previous;
    if (!object) return;
    const { namespace = '', uid = '' } = object.metadata;
    // The writes over an older revision are contained in this one, or will fail.
    const revision = current ? Number(current.metadata.resourceVersion ?? 0) : Number.POSITIVE_INFINITY;
    this.#endCharges(uid, ({ base }) => base < revision);
    for (const [key, { quota, used }] of this.#countedIn(namespace)) {
      // A quota that counts quotas has counted itself already.
      if (kind.resource === 'resourcequotas' && key === refText(object.metadata)) continue;
      const before = quotaUsage(quota, kind, previous);
      const after = quotaUsage(quota, kind, current);
      if (JSON.stringify(before) === JSON.stringify(after)) continue;
      add(used, before, -1);
      add(used, after, 1);
      this.#onUsage(key);
    }
  }
}

function forbidden(kind: Kind, { metadata }: KubeObject, why: string): ApiError {
  const name = metadata.name || metadata.generateName || 'Unknown';
  return new ApiError('Forbidden', `${qualifiedResource(kind)} "${name}" is forbidden: ${why}`, {
    name,
    ...(kind.group ? { group: kind.group } : {}),
    kind: kind.resource,
  });
}
