/** Requests a Pod's token over HTTPS with the host's identity: `POST …/serviceaccounts/NAME/token`. */
import type { RequestToken, TokenRequest, TokenResult } from '../pods/steps/pod-token-cache.js';
import type { ApiAnswer, PostToCoordinator } from './coordinator-post.js';

export function podTokenRequester(post: PostToCoordinator): RequestToken {
  return async (params) => {
    const { namespace, serviceAccount } = params;
    const names = [namespace, serviceAccount].map(encodeURIComponent);
    const path = `/api/v1/namespaces/${names[0]}/serviceaccounts/${names[1]}/token`;
    return answerOf(await post(path, bodyOf(params)));
  };
}

function bodyOf({ pod, audience, expirationSeconds }: TokenRequest): object {
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: {
      ...(audience === undefined ? {} : { audiences: [audience] }),
      expirationSeconds,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', ...pod },
    },
  };
}

/** Throws an Error if a retry may help. */
function answerOf({ code, body }: ApiAnswer): TokenResult {
  const answer = body as { status?: { token?: string }; message?: string };
  const token = answer.status?.token;
  if (code === 201 && typeof token === 'string') return { token };
  if (code >= 400 && code < 500 && code !== 429) return { refused: answer.message ?? `status ${code}` };
  throw new Error(`the coordinator answered with status ${code}`);
}
