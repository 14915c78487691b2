/** The opaque token that continues a list: where it stopped, and the revision that all its pages show. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';

interface ContinuePoint {
  /** Key of the last object handed out, relative to the list's prefix, so that no token leads out of it. */
  after: string;
  revision: number;
}

/** The token's text. */
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

/** Reads a token back. Throws a 400 for a text that is none of ours. */
export function decodeContinue(token: string): ContinuePoint {
  const deps = parse(token);
  const [revision, after] = Array.isArray(deps) ? deps : [];
  if (!Number.isSafeInteger(revision) || typeof after !== 'string') {
    throw badRequest('continue key is not valid: it was not made by this server');
  }
  return { revision, after };
}
