/**
 * The namespace of a user whose rights do not cover the whole cluster. The API has no list of such namespaces, so the
 * console reviews the user's rules in the namespaces that it knows of. The user can name others.
 */
import { useEffect, useSyncExternalStore } from 'react';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { mayListIn } from './access-checks.js';
import { callUntilAnswered } from './api-call.js';
import { candidateNamespaces } from './candidate-namespaces.js';
import { type Live, useLiveList } from './live-list.js';
import { userName } from './signed-in-user.js';

const STORED_AS = 'everynode-namespaces';

/** What a namespace must let the user list, to be worth a choice. */
const WORTH_SEEING = [
  { verb: 'list', group: 'apps', resource: 'daemonsets' },
  { verb: 'list', group: 'fleet.everynode.dev', resource: 'rollouts' },
  { verb: 'list', group: 'fleet.everynode.dev', resource: 'daemonjobs' },
  { verb: 'list', group: 'fleet.everynode.dev', resource: 'crondaemonjobs' },
  { verb: 'list', group: 'fleet.everynode.dev', resource: 'hostvalues' },
  { verb: 'list', resource: 'pods' },
  { verb: 'list', resource: 'services' },
] as const;

/** `unused`: no list was refused so far, and no namespace is needed. */
type NamespaceChoice =
  | { kind: 'unused' }
  | { kind: 'loading' }
  | { kind: 'known'; readable: readonly string[]; selected: string | undefined };

let choice: NamespaceChoice = { kind: 'unused' };
/** Lists that the API refused for the whole cluster. They are not requested again in this page. */
const refused = new Set<string>();
const listeners = new Set<() => void>();

export function useNamespaceChoice(): NamespaceChoice {
  return useSyncExternalStore(subscribe, () => choice);
}

/** Selects a namespace in which the user may list something. Returns false if there is nothing to see. */
export async function selectNamespace(name: string): Promise<boolean> {
  if (choice.kind !== 'known' || !(await mayListIn(name, WORTH_SEEING))) return false;
  const readable = [...new Set([...choice.readable, name])].sort();
  localStorage.setItem(STORED_AS, JSON.stringify([name, ...readable.filter((each) => each !== name)]));
  publish({ kind: 'known', readable, selected: name });
  return true;
}

/** Where to list a namespaced resource. `refused`: neither in the cluster nor in a known namespace. */
type ListScope =
  | { kind: 'everywhere' }
  | { kind: 'loading' }
  | { kind: 'namespace'; namespace: string }
  | { kind: 'refused' };

/**
 * Returns the scope of `path`, the list in the whole cluster. It is the namespace `asked`, if not empty. Otherwise it is
 * the cluster until `limitToNamespace`, then the chosen namespace.
 */
export function useListScope(path: string, asked = ''): ListScope {
  const present = useNamespaceChoice();
  const isLimited = useSyncExternalStore(subscribe, () => refused.has(path));
  if (asked !== '') return { kind: 'namespace', namespace: asked };
  if (!isLimited) return { kind: 'everywhere' };
  if (present.kind !== 'known') return { kind: 'loading' };
  if (present.selected === undefined) return { kind: 'refused' };
  return { kind: 'namespace', namespace: present.selected };
}

/** Records that the API refused this list for the whole cluster, and finds the namespaces that the user may read. */
export function limitToNamespace(path: string): void {
  if (refused.has(path)) return;
  refused.add(path);
  publish(choice);
  void findNamespaces();
}

/** A list, and its scope. */
export type ScopedList<T> = Live<T> & {
  /** Set if the list is limited to one namespace. */
  namespace?: string;
};

/**
 * Watches a namespaced resource in the whole cluster, or in the chosen namespace if the user may not list the cluster.
 * `asked` limits it to one namespace. `phase` is `refused` if the user may not list the namespace either.
 */
export function useScopedList<T extends KubeObject>(
  groupVersion: string,
  resource: string,
  asked = '',
): ScopedList<T> {
  const path = `${groupVersion}/${resource}`;
  const scope = useListScope(path, asked);
  const live = useLiveList<T>(pathInScope(groupVersion, resource, scope));
  const mustLimit = scope.kind === 'everywhere' && live.phase === 'refused' && live.error?.code === 403;
  useEffect(() => {
    if (mustLimit) limitToNamespace(path);
  }, [mustLimit, path]);
  if (scope.kind === 'refused') return { objects: [], phase: 'refused' };
  if (scope.kind === 'loading' || mustLimit) return { objects: [], phase: 'loading' };
  return scope.kind === 'namespace' ? { ...live, namespace: scope.namespace } : live;
}

/** Returns the path of the list, or undefined while there is nothing to list. */
export function pathInScope(groupVersion: string, resource: string, scope: ListScope): string | undefined {
  if (scope.kind === 'everywhere') return `${groupVersion}/${resource}`;
  return scope.kind === 'namespace' ? `${groupVersion}/namespaces/${scope.namespace}/${resource}` : undefined;
}

async function findNamespaces(): Promise<void> {
  if (choice.kind !== 'unused') return;
  publish({ kind: 'loading' });
  const listed = await callUntilAnswered<{ items: KubeObject[] }>('/api/v1/namespaces').then(
    ({ items }) => items.map(({ metadata }) => metadata.name),
    () => [],
  );
  const stored = readStored();
  const candidates = candidateNamespaces({ stored, listed, user: userName() });
  const answers = await Promise.all(candidates.map((name) => mayListIn(name, WORTH_SEEING)));
  const readable = candidates.filter((_, index) => answers[index]);
  publish({ kind: 'known', readable: [...readable].sort(), selected: readable[0] });
}

/** The last selected namespace is the first. Entries of other versions are ignored. */
function readStored(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '[]');
    return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

function publish(next: NamespaceChoice): void {
  choice = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
