/**
 * `POST /apis/fleet.everynode.dev/v1/backups`: takes a backup and returns it, for `everynode backup`. A backup contains
 * the keys of the fleet, so a user who may create one can do everything. Only cluster administrators have this right.
 */
import { computedResource } from '../discovery/served-resource.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { writePaced } from '../http/paced-writer.js';
import { requireKnownParameters } from '../resources/query-options.js';

export const BACKUP_RESOURCE = computedResource('Backup', 'backups', ['create']);

/** Response header with the last revision in the backup. */
export const BACKUP_REVISION_HEADER = 'everynode-backup-revision';

/** Throws ApiError: 400, 409, 503. The length is known before, so that a client detects an incomplete download. */
export async function handleBackup(
  deps: ApiDeps,
  { info, signal, onCreated }: ApiRequest,
): Promise<ApiResponse> {
  requireKnownParameters(info.query, []);
  const { name, sizeBytes, revision, content } = await deps.backups.take();
  onCreated(name);
  return {
    type: 'stream',
    contentType: 'application/gzip',
    headers: {
      'content-length': String(sizeBytes),
      'content-disposition': `attachment; filename="${name}"`,
      [BACKUP_REVISION_HEADER]: String(revision),
    },
    write: async (response) => {
      for await (const chunk of content) {
        if (signal.aborted) return;
        await writePaced(response, chunk, deps.clock, deps.settings.stallMs);
      }
    },
  };
}
