/** What this host knows about Services: views of the hub, absences, and names that the hub has not answered yet. */
import { serviceKey } from '../../shared/kube/services/service-types.js';
import { isEndpointKey, isEndpointView, type ServiceView } from '../../shared/kube/services/service-view.js';
import type { ChangedEndpoints } from '../../shared/link/messages/link-messages.js';
import { serviceViewDigest } from '../../shared/link/service-view-digest.js';
import {
  isInterestOver,
  MAX_NAMES_WITHOUT_VIEW,
  MAX_SERVICES,
  nameToDrop,
  type ServiceKnowledge,
} from '../decisions/services/host-interest.js';
import type { HostService } from '../decisions/services/host-service.js';
import { type LocalPod, localEndpoints } from '../decisions/services/local-endpoints.js';
import { afterEndpointChanges } from '../decisions/services/view-changes.js';
import { shareValues, withSharedValues } from './endpoint-interning.js';

/** The host's own node; the zone is "" if unknown. */
export interface OwnNode {
  node: string;
  zone: string;
}

/** A Service, as the table stores it. */
interface Entry {
  lastUsedAt: number;
  knowledge: ServiceKnowledge | KnownService;
}

interface KnownService extends HostService {
  state: 'known';
  /** Computed on demand. */
  digest?: string;
}

export class KnownServices {
  readonly #entries = new Map<string, Entry>();
  /** When the hub last reported that a namespace does not exist, by its name. */
  readonly #absentNamespaces = new Map<string, number>();

  /** Returns true if one more name can be stored. For a single endpoint, another one is dropped if necessary. */
  hasRoomFor(key: string): boolean {
    if (isEndpointKey(key) || this.#entries.size < MAX_SERVICES) return true;
    return [...this.#entries.keys()].filter((each) => !isEndpointKey(each)).length < MAX_SERVICES;
  }

  knowledge(key: string): ServiceKnowledge | undefined {
    return this.#entries.get(key)?.knowledge;
  }

  service(key: string): HostService | undefined {
    const knowledge = this.#entries.get(key)?.knowledge;
    return knowledge && 'local' in knowledge ? knowledge : undefined;
  }

  /** Whole Services. Views of single endpoints only answer names. */
  *services(): Generator<HostService, void> {
    for (const { knowledge } of this.#entries.values())
      if ('local' in knowledge && !isEndpointView(knowledge.view)) yield knowledge;
  }

  /** All views, for the disk. */
  *views(): Generator<ServiceView, void> {
    for (const { knowledge } of this.#entries.values()) if ('local' in knowledge) yield knowledge.view;
  }

  hasNamespace(namespace: string): boolean {
    for (const { view } of this.services()) if (view.namespace === namespace) return true;
    return false;
  }

  namespaceAbsentSince(namespace: string): number | undefined {
    return this.#absentNamespaces.get(namespace);
  }

  /** Renews the host's interest. */
  markUsed(key: string, now: number): void {
    const entry = this.#entries.get(key);
    if (entry) entry.lastUsedAt = now;
  }

  /** Prevents further questions about the same absence before the hub has answered the first. */
  markRefreshed(key: string, now: number): void {
    const entry = this.#entries.get(key);
    if (entry?.knowledge.state === 'absent') entry.knowledge = { state: 'absent', confirmedAt: now };
  }

  /** Adds a name that the hub is asked for. Returns the name that had to be dropped for it. */
  addRequested(key: string, now: number): string | undefined {
    const dropped = nameToDrop(this.#entries, key);
    if (dropped !== undefined) this.#entries.delete(dropped);
    this.#entries.set(key, { lastUsedAt: now, knowledge: { state: 'requested' } });
    return dropped;
  }

  setView(view: ServiceView, pods: readonly LocalPod[], own: OwnNode, now: number): void {
    const key = serviceKey(view);
    this.#absentNamespaces.delete(view.namespace);
    this.#entries.set(key, {
      lastUsedAt: this.#entries.get(key)?.lastUsedAt ?? now,
      knowledge: knownService(withSharedValues(view), pods, own),
    });
  }

  /**
   * Returns true if a view was removed. A Service that the hub sent without a request is forgotten: it may exist, and only
   * be no longer needed by every host.
   */
  setAbsent(key: string, wasAsked: boolean, now: number): boolean {
    const [namespace = '', name = ''] = key.split('/');
    if (name === '') {
      this.#setNamespaceAbsent(namespace, now);
      return false;
    }
    const entry = this.#entries.get(key);
    if (!entry) return false;
    const hadView = entry.knowledge.state === 'known';
    if (wasAsked) entry.knowledge = { state: 'absent', confirmedAt: now };
    else this.#entries.delete(key);
    return hadView;
  }

  #setNamespaceAbsent(namespace: string, now: number): void {
    this.#absentNamespaces.delete(namespace);
    this.#absentNamespaces.set(namespace, now);
    const [oldest] = this.#absentNamespaces.keys();
    if (this.#absentNamespaces.size > MAX_NAMES_WITHOUT_VIEW && oldest !== undefined)
      this.#absentNamespaces.delete(oldest);
  }

  /** Restores a stored absence, which counts as old. */
  restoreAbsent(key: string, now: number): void {
    const knowledge = { state: 'absent' as const, confirmedAt: Number.NEGATIVE_INFINITY };
    this.#entries.set(key, { lastUsedAt: now, knowledge });
  }

  restoreAbsentNamespace(namespace: string): void {
    this.#absentNamespaces.set(namespace, Number.NEGATIVE_INFINITY);
  }

  /** Returns `incomplete` if the view has to be requested again. */
  changeEndpoints(changes: ChangedEndpoints): 'changed' | 'incomplete' | 'unknown' {
    const entry = this.#entries.get(changes.service);
    if (!entry || !('local' in entry.knowledge)) return 'unknown';
    const { local, view } = entry.knowledge;
    const set = shareValues(changes.set, view.remote);
    const changed = afterEndpointChanges(view, { ...changes, set });
    entry.knowledge = { state: 'known', local, view: changed.view };
    return changed.isComplete ? 'changed' : 'incomplete';
  }

  /** Derives all local endpoints again. Returns true if any changed. */
  refreshLocal(pods: readonly LocalPod[], own: OwnNode): boolean {
    let hasChanged = false;
    for (const entry of this.#entries.values()) {
      const { knowledge } = entry;
      if (!('local' in knowledge)) continue;
      const local = localEndpoints(knowledge.view, pods, own);
      if (JSON.stringify(local) === JSON.stringify(knowledge.local)) continue;
      entry.knowledge = { ...knowledge, local };
      hasChanged = true;
    }
    return hasChanged;
  }

  /** Returns everything that this host needs, with digests, for a new session. */
  interest(): [key: string, digest: string][] {
    return [...this.#entries].map(([key, { knowledge }]) => [key, digestOf(knowledge)]);
  }

  /** Drops what is no longer needed. Returns the keys, and whether a view is among them. */
  dropUnused(oldestPodAt: number | undefined, now: number): { keys: string[]; hadView: boolean } {
    const over = [...this.#entries].filter(([, entry]) => isInterestOver(entry, oldestPodAt, now));
    for (const [key] of over) this.#entries.delete(key);
    const hadView = over.some(([, { knowledge }]) => knowledge.state === 'known');
    return { keys: over.map(([key]) => key), hadView };
  }

  /** Returns the names and namespaces that are known to be absent. */
  absences(): { absent: string[]; absentNamespaces: string[] } {
    const entries = [...this.#entries];
    return {
      absent: entries.flatMap(([key, { knowledge }]) => (knowledge.state === 'absent' ? [key] : [])),
      absentNamespaces: [...this.#absentNamespaces.keys()],
    };
  }
}

function knownService(view: ServiceView, pods: readonly LocalPod[], own: OwnNode): KnownService {
  return { state: 'known', view, local: localEndpoints(view, pods, own) };
}

function digestOf(knowledge: ServiceKnowledge | KnownService): string {
  if (!('local' in knowledge)) return '';
  knowledge.digest ??= serviceViewDigest(knowledge.view);
  return knowledge.digest;
}
