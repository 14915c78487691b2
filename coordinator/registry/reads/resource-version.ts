/** resourceVersion parameters of reads: parsing, and refusing revisions that the store has not reached. */
import { ApiError, badRequest, invalid } from '../../../shared/kube/objects/api-status.js';
import type { Store } from '../../store/store.js';
import type { ListRequest } from '../registry-options.js';

/** Returns a decimal revision. Absent, "" and "0" give 0, which means any available revision. Throws a 400. */
export function parseResourceVersion(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  const revision = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(revision)) {
    throw badRequest(`invalid resource version ${JSON.stringify(text)}: it is not a decimal number`);
  }
  return revision;
}

/** Throws upstream's 504 (`NewTooLargeResourceVersionError`) for a revision that the store has not reached. */
export async function refuseFuture(store: Store, revision: number): Promise<void> {
  if (revision === 0) return;
  const current = await store.revision();
  if (revision <= current) return;
  const message = `Too large resource version: ${revision}, current: ${current}`;
  throw new ApiError('Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** The rules of meta/v1 ListOptions on resourceVersionMatch (`pkg/apis/meta/internalversion/validation`). Throws a 422. */
export function checkMatch(request: ListRequest): void {
  const match = request.resourceVersionMatch;
  if (!match) return;
  const problem = matchProblem(match, request);
  if (problem === undefined) return;
  throw invalid({ group: 'meta.k8s.io', resource: '', kind: 'ListOptions' }, '', [
    { field: 'resourceVersionMatch', ...problem },
  ]);
}

function matchProblem(match: string, request: ListRequest): { reason: string; message: string } | undefined {
  const forbidden = (detail: string) => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: resourceVersionMatch is forbidden ${detail}`,
  });
  if (!request.resourceVersion) return forbidden('unless resourceVersion is provided');
  if (request.continue) return forbidden('when continue is provided');
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`;
    return { reason: 'FieldValueNotSupported', message };
  }
  if (match === 'Exact' && request.resourceVersion === '0') {
    return forbidden('"Exact" for resourceVersion "0"');
  }
  return undefined;
}
