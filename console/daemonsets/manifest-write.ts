/** Requests of the editor: validate, plan and store. Each write names the resourceVersion that it replaces. */

import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Plan } from '../../shared/kube/fleet/plan-types.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { manifestText, mergeManifest } from './manifest-text.js';

interface ManifestWrite {
  method: 'POST' | 'PUT';
  path: string;
  body: Record<string, unknown>;
}

const MAX_ATTEMPTS = 5;
const MANAGER = 'fieldManager=everynode-console';

function pathOf(namespace: string, name?: string): string {
  const all = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
  return name === undefined ? all : `${all}/${name}`;
}

/** Returns the stored object if another user has changed it since `base`, status excluded, or undefined. */
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

/** Prepares the write. Uses the stored resourceVersion if only the status has changed since `base`. */
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

/** Validates by a dry run. Rejects with `ApiCallError` and its field errors. */
export async function checkWrite({ method, path, body }: ManifestWrite): Promise<void> {
  await callApi(`${path}?dryRun=All&fieldValidation=Strict&${MANAGER}`, { method, body, isMinimal: true });
}

export function fetchPlan({ body }: ManifestWrite): Promise<Plan> {
  return callApi<Plan>('/apis/fleet.everynode.dev/v1/plan', {
    method: 'POST',
    body: { manifests: [body], mode: 'replace' },
  });
}

/** Stores the manifest. Rejects with `ApiCallError`; reason `Conflict` if another user has changed it since `base`. */
export async function storeManifest(
  manifest: Record<string, unknown>,
  base: DaemonSet | undefined,
): Promise<DaemonSet> {
  for (let tries = 1; ; tries += 1) {
    const { method, path, body } = await prepareWrite(manifest, base);
    try {
      return await callApi<DaemonSet>(`${path}?fieldValidation=Strict&${MANAGER}`, { method, body });
    } catch (error) {
      // Retry: during a rollout the status changes several times a second.
      const isLate = error instanceof ApiCallError && error.reason === 'Conflict';
      if (!isLate || !base || tries === MAX_ATTEMPTS || (await fetchIfChanged(base))) throw error;
    }
  }
}
