/**
 * `/apis/fleet.everynode.dev/v1/restore`: GET returns whether a restore of the store must be confirmed, POST confirms
 * it. Until then every write returns a warning.
 */
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';

export const RESTORE_PATH = `/apis/${FLEET_GROUP}/v1/restore`;

export interface RestoreDocument {
  kind: 'Restore';
  apiVersion: string;
  /** False if there is no restore to confirm. */
  unconfirmed: boolean;
  /** Time of the backup, RFC 3339. Absent once the restore is confirmed. */
  backupTakenAt?: string;
}

const WARNING =
  'this store was restored from a backup and the restore is not confirmed: controllers do not create, replace or delete Pods; when the hosts have reconnected, run "everynode confirm-restore"';

/** `create` confirms the restore. */
export const RESTORE_RESOURCE = computedResource('Restore', 'restore', ['create', 'list']);

export async function handleRestore({ restore }: ApiDeps, { info }: ApiRequest): Promise<ApiResponse> {
  if (info.verb === 'create') await restore.confirm();
  const waiting = restore.unconfirmed();
  return ok({
    kind: 'Restore',
    apiVersion: `${FLEET_GROUP}/v1`,
    unconfirmed: waiting !== undefined,
    ...(waiting ? { backupTakenAt: new Date(waiting.takenAt).toISOString() } : {}),
  } satisfies RestoreDocument);
}

/** Warns on writes that controllers do not act on them before the restore is confirmed. */
export function warnUnconfirmedRestore({ restore }: ApiDeps, { info, warn }: ApiRequest): void {
  const isRead = info.verb === 'get' || info.verb === 'list' || info.verb === 'watch';
  if (!isRead && restore.unconfirmed()) warn(WARNING);
}
