/** The opaque token that continues a list: its last key, and the revision that all pages show. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';

interface ContinuePoint {
  /** The key of the last object sent, relative to the list's prefix, so that no token can leave the prefix. */
  after: string;
  revision: number;
}

/** In a token: continue at the newest revision, because the list's own revision is compacted (etcd3 `EncodeContinue`). */
export const NEWEST_REVISION = -1;

export function encodeContinue(point: ContinuePoint): string {
  return Buffer.from(JSON.stringify([point.revision, point.after])).toString('base64url');
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Decodes a token. Its revision may be `NEWEST_REVISION`. Throws a 400 if this server did not make it. */
export function decodeContinue(token: string): ContinuePoint {
  const deps = parse(token);
  const [revision, after] = Array.isArray(deps) ? deps : [];
  if (!Number.isSafeInteger(revision) || revision < NEWEST_REVISION || typeof after !== 'string') {
    throw badRequest('continue key is not valid: this server did not issue it');
  }
  return { revision, after };
}
