/**
 * The namespace of a user whose rights do not cover the whole cluster. The API has no list of such namespaces, so the
 * console reviews the user's rules in the namespaces that it knows of. The user can name others.
 */
import { useEffect, useSyncExternalStore } from 'react';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { mayListIn } from './access-checks.js';
import { callApi } from './api-call.js';
import { candidateNamespaces } from './candidate-namespaces.js';
import { type Live, useLiveList } from './live-list.js';
import { userName } from './signed-in-user.js';

const STORED_AS = 'everynode-namespaces';

/** What a namespace must let the user list, to be worth a choice. */
const WORTH_SEEING = [
  { verb: 'list', group: 'apps', resource: 'daemonsets' },
  { verb: 'list', group: 'fleet.everynode.dev', resource: 'rollouts' },
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

type ScopedList<T> = Live<T> & {
  /** Set if the list is limited to one namespace. */
  namespace?: string;
};

/**
 * Watches a namespaced resource in the whole cluster, or in the chosen namespace if the user may not list the cluster.
 * `phase` is `refused` if the user may not list the namespace either.
 */
export function useScopedList<T extends KubeObject>(groupVersion: string, resource: string): ScopedList<T> {
  const present = useNamespaceChoice();
  const path = `${groupVersion}/${resource}`;
  const everywhere = useLiveList<T>(refused.has(path) ? undefined : path);
  const isLimited = refused.has(path) || (everywhere.phase === 'refused' && everywhere.error?.code === 403);
  const selected = isLimited && present.kind === 'known' ? present.selected : undefined;
  const inOne = useLiveList<T>(selected && `${groupVersion}/namespaces/${selected}/${resource}`);
  useEffect(() => {
    if (!isLimited) return;
    refused.add(path);
    void findNamespaces();
  }, [isLimited, path]);
  if (!isLimited) return everywhere;
  if (selected !== undefined) return { ...inOne, namespace: selected };
  return { objects: [], phase: present.kind === 'known' ? 'refused' : 'loading' };
}

async function findNamespaces(): Promise<void> {
  if (choice.kind !== 'unused') return;
  publish({ kind: 'loading' });
  const listed = await callApi<{ items: KubeObject[] }>('/api/v1/namespaces').then(
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
