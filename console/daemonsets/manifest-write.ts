/** Sending a manifest: to be checked, to be planned, to be stored. A write names the version that it is about. */

import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Plan } from '../../shared/kube/fleet/plan-types.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { manifestText, mergeManifest } from './manifest-text.js';

/** One write, ready to be sent. */
interface ManifestWrite {
  method: 'POST' | 'PUT';
  path: string;
  body: Record<string, unknown>;
}

const MOST_TRIES = 5;
const MANAGER = 'fieldManager=everynode-console';

function pathOf(namespace: string, name?: string): string {
  const all = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
  return name === undefined ? all : `${all}/${name}`;
}

/** The object as it is stored now, if somebody has changed it since `base`; a status that was written since is no change. */
export async function fetchIfChanged(base: DaemonSet): Promise<DaemonSet | undefined> {
  const now = await newest(base);
  return isSame(now, base) ? undefined : now;
}

function newest({ metadata: { namespace = '', name } }: DaemonSet): Promise<DaemonSet> {
  return callApi<DaemonSet>(pathOf(namespace, name));
}

function isSame(a: DaemonSet, b: DaemonSet): boolean {
  return a.metadata.uid === b.metadata.uid && manifestText(a) === manifestText(b);
}

/** The write of an edited text over `base`, at the version that is stored now if that is no other. */
export async function prepareWrite(
  manifest: Record<string, unknown>,
  base: DaemonSet | undefined,
): Promise<ManifestWrite> {
  if (!base) {
    const { namespace = 'default' } = (manifest.metadata ?? {}) as DaemonSet['metadata'];
    return { method: 'POST', path: pathOf(namespace), body: manifest };
  }
  const { namespace = '', name } = base.metadata;
  const now = await newest(base);
  const body = mergeManifest(isSame(now, base) ? now : base, manifest);
  return { method: 'PUT', path: pathOf(namespace, name), body };
}

/** Rejects with `CallError`, and the fields that are wrong in it, when the API would refuse the write. */
export async function checkWrite({ method, path, body }: ManifestWrite): Promise<void> {
  await callApi(`${path}?dryRun=All&fieldValidation=Strict&${MANAGER}`, { method, body, isMinimal: true });
}

/** What it would do to hosts. */
export function fetchPlan({ body }: ManifestWrite): Promise<Plan> {
  return callApi<Plan>('/apis/fleet.everynode.dev/v1/plan', {
    method: 'POST',
    body: { manifests: [body], mode: 'replace' },
  });
}

/** Stores it. Rejects with `CallError`: `Conflict` when somebody has changed it since `base`. */
export async function storeManifest(
  manifest: Record<string, unknown>,
  base: DaemonSet | undefined,
): Promise<DaemonSet> {
  for (let tries = 1; ; tries += 1) {
    const { method, path, body } = await prepareWrite(manifest, base);
    try {
      return await callApi<DaemonSet>(`${path}?fieldValidation=Strict&${MANAGER}`, { method, body });
    } catch (error) {
      // In a rollout the status is written several times a second.
      const isLate = error instanceof ApiCallError && error.reason === 'Conflict';
      if (!isLate || !base || tries === MOST_TRIES || (await fetchIfChanged(base))) throw error;
    }
  }
}
