/** Creates a join token in the browser. The secret does not leave the browser; only its hash is stored. */
import {
  DESCRIPTION_ANNOTATION,
  TOKEN_CHARACTERS,
  type TokenGrant,
  tokenSecretOf,
} from '../../shared/kube/access/join-token-secret.js';
import { requestApi } from '../api/api-call.js';

export const TOKENS = '/api/v1/namespaces/kube-system/secrets';

const ID_CHARACTERS = 6;
const SECRET_CHARACTERS = 16;

/** Stores a new token and returns it as `ID.SECRET`. Rejects with `ApiCallError`. */
export async function createJoinToken(grant: TokenGrant, description: string): Promise<string> {
  const id = randomText(ID_CHARACTERS);
  const secret = randomText(SECRET_CHARACTERS);
  const stored = tokenSecretOf(id, await sha256(secret), grant);
  const annotations = description ? { [DESCRIPTION_ANNOTATION]: description } : {};
  const body = { ...stored, metadata: { ...stored.metadata, annotations } };
  await requestApi(TOKENS, { method: 'POST', body });
  return `${id}.${secret}`;
}

/** Rejection sampling: discards bytes that would make some characters more likely. */
function randomText(length: number): string {
  const fair = 256 - (256 % TOKEN_CHARACTERS.length);
  let text = '';
  while (text.length < length) {
    const [byte = fair] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < fair) text += TOKEN_CHARACTERS[byte % TOKEN_CHARACTERS.length];
  }
  return text;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
