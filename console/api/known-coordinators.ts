/** The fleet's coordinators for all pages: whether there are several, and whether they have problems. */
import { useEffect, useSyncExternalStore } from 'react';
import type { ClusterProblem, Coordinator } from '../../shared/kube/fleet/coordinator-types.js';
import { ApiCallError, callApi } from './api-call.js';

export const COORDINATORS = '/apis/fleet.everynode.dev/v1/coordinators';
/** Polled: for each open watch, the leader would read etcd every 2 s. */
const POLL_INTERVAL_MS = 10_000;

let known: readonly Coordinator[] = [];
let isRefused = false;
const listeners = new Set<() => void>();

/** Returns [] until the first response, and for users who may not list coordinators. */
export function useKnownCoordinators(): readonly Coordinator[] {
  useEffect(() => {
    void poll();
    const timer = setInterval(() => void poll(), POLL_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return useSyncExternalStore(subscribe, () => known);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function poll(): Promise<void> {
  if (isRefused || document.hidden) return;
  try {
    const { items } = await callApi<{ items: Coordinator[] }>(COORDINATORS);
    known = items;
  } catch (error) {
    // The banner of an unreachable coordinator covers other errors.
    if (error instanceof ApiCallError && error.code === 403) isRefused = true;
    return;
  }
  for (const listener of listeners) listener();
}

/** Returns false for a single coordinator without etcd. */
export function hasCluster(coordinators: readonly Coordinator[]): boolean {
  return coordinators.some(({ spec }) => spec.memberId !== undefined);
}

/** Returns the problems of all coordinators, errors first. */
export function problemsOf(coordinators: readonly Coordinator[]): ClusterProblem[] {
  const problems = coordinators.flatMap(({ status }) => status.problems);
  return problems.sort((a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error'));
}
