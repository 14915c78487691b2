/** The opaque token that continues a list: its last key, and the revision that all pages show. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';

interface ContinuePoint {
  /** The key of the last object sent, relative to the list's prefix, so that no token can leave the prefix. */
  after: string;
  revision: number;
}

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

/** Decodes a token. Throws a 400 if this server did not make it. */
export function decodeContinue(token: string): ContinuePoint {
  const deps = parse(token);
  const [revision, after] = Array.isArray(deps) ? deps : [];
  if (!Number.isSafeInteger(revision) || typeof after !== 'string') {
    throw badRequest('continue key is not valid: this server did not issue it');
  }
  return { revision, after };
}
