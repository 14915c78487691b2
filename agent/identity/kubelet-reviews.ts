/** Reviews at the coordinator for callers of the kubelet's port: TokenReview and SubjectAccessReview. */
import type { Caller, KubeletReviewer } from '../kubelet/port/kubelet-access.js';
import type { PostToCoordinator } from './coordinator-post.js';

/** The reviews reject if the coordinator gives no verdict. */
export function kubeletReviewer(post: PostToCoordinator): KubeletReviewer {
  const review = async (group: string, kind: string, spec: object): Promise<Record<string, unknown>> => {
    const path = `/apis/${group}/v1/${kind.toLowerCase()}s`;
    const body = { kind, apiVersion: `${group}/v1`, spec };
    const answer = await post(path, body);
    const { status } = answer.body as { status?: unknown };
    if (answer.code === 201 && typeof status === 'object' && status !== null)
      return status as Record<string, unknown>;
    throw new Error(`the coordinator answered a ${kind} with status ${answer.code}`);
  };
  return {
    userOfToken: async (token) => {
      const { authenticated, user } = await review('authentication.k8s.io', 'TokenReview', { token });
      return authenticated === true ? callerIn(user) : undefined;
    },
    isAllowed: async ({ username, groups, uid, extra }, { verb, node, subresource }) => {
      const { allowed } = await review('authorization.k8s.io', 'SubjectAccessReview', {
        user: username,
        ...{ groups, uid, extra },
        resourceAttributes: { verb, group: '', version: 'v1', resource: 'nodes', subresource, name: node },
      });
      return allowed === true;
    },
  };
}

function callerIn(user: unknown): Caller | undefined {
  const { username, groups, uid, extra } = (user ?? {}) as Partial<Caller>;
  if (typeof username !== 'string' || username === '') return undefined;
  return {
    username,
    groups: Array.isArray(groups) ? groups : [],
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(extra ? { extra } : {}),
  };
}
