/**
 * Permissions of the signed-in user. Actions without permission are hidden. Each namespace is queried once
 * (SelfSubjectRulesReview). Cluster-scoped actions are queried one by one (SelfSubjectAccessReview), because the rules
 * of a namespace do not cover them.
 */
import { useEffect, useReducer, useState } from 'react';
import { type AccessCheck, type ResourceRule, rulesAllow } from './access-rules.js';
import { callUntilAnswered } from './api-call.js';

const REVIEWS = '/apis/authorization.k8s.io/v1';
const API_VERSION = 'authorization.k8s.io/v1';

const pending = new Map<string, Promise<boolean>>();
const known = new Map<string, boolean>();
const rulesOf = new Map<string, Promise<RulesStatus>>();

interface RulesStatus {
  resourceRules: readonly ResourceRule[];
  /** True if some roles could not be read. Actions that the rules do not cover may still be allowed. */
  incomplete: boolean;
}

/** Returns false until the answer is known. */
export function useIsAllowed(check: AccessCheck): boolean {
  return useIsAllowedInAny(check, [check.namespace ?? '']);
}

/** Returns false until all checks are answered. Without waiting, buttons appear late and move the layout. */
export function useAreChecksLoaded(checks: readonly AccessCheck[]): boolean {
  const together = JSON.stringify(checks.map(keyOf));
  const [loadedChecks, setLoadedChecks] = useState('');
  useEffect(() => {
    let isMounted = true;
    const keys = JSON.parse(together) as string[];
    void Promise.all(keys.map((key) => checkAccess(parseKey(key)))).then(
      () => isMounted && setLoadedChecks(together),
    );
    return () => {
      isMounted = false;
    };
  }, [together]);
  return loadedChecks === together;
}

/** Returns true if the action is allowed in one of the namespaces, and false until that is known. */
export function useIsAllowedInAny(check: AccessCheck, namespaces: readonly string[]): boolean {
  const keys = namespaces.map((namespace) => keyOf({ ...check, namespace }));
  const together = JSON.stringify(keys);
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let isMounted = true;
    for (const key of JSON.parse(together) as string[]) {
      if (!known.has(key)) void checkAccess(parseKey(key)).then(() => isMounted && rerender());
    }
    return () => {
      isMounted = false;
    };
  }, [together]);
  return keys.some((key) => known.get(key) ?? false);
}

/**
 * Checks access outside of a component. A review that the coordinator could not answer is repeated, because denied
 * access would hide pages until the next reload. A refused review denies access, and is repeated at the next call.
 */
function checkAccess(check: AccessCheck): Promise<boolean> {
  const key = keyOf(check);
  const present = pending.get(key);
  if (present) return present;
  const answer = (check.namespace ? inNamespace(check, check.namespace) : review(check)).then(
    (isAllowed) => {
      known.set(key, isAllowed);
      return isAllowed;
    },
    () => {
      pending.delete(key);
      return false;
    },
  );
  pending.set(key, answer);
  return answer;
}

function keyOf({ verb, group = '', resource, subresource = '', namespace = '' }: AccessCheck): string {
  return JSON.stringify([verb, group, resource, subresource, namespace]);
}

function parseKey(key: string): AccessCheck {
  const [verb = '', group = '', resource = '', subresource = '', namespace = ''] = JSON.parse(
    key,
  ) as string[];
  return { verb, group, resource, subresource, namespace };
}

async function inNamespace(check: AccessCheck, namespace: string): Promise<boolean> {
  const present = rulesOf.get(namespace) ?? rulesIn(namespace);
  rulesOf.set(namespace, present);
  const { resourceRules, incomplete } = await present.catch((error: unknown) => {
    rulesOf.delete(namespace);
    throw error;
  });
  return rulesAllow(resourceRules, check) || (incomplete && (await review(check)));
}

/** Returns true if the user may list one of the resources in the namespace. False if the review is refused. */
export async function mayListIn(namespace: string, resources: readonly AccessCheck[]): Promise<boolean> {
  const answers = await Promise.all(resources.map((each) => checkAccess({ ...each, namespace })));
  return answers.includes(true);
}

async function rulesIn(namespace: string): Promise<RulesStatus> {
  const body = { apiVersion: API_VERSION, kind: 'SelfSubjectRulesReview', spec: { namespace } };
  const { status } = await callUntilAnswered<{ status: RulesStatus }>(`${REVIEWS}/selfsubjectrulesreviews`, {
    method: 'POST',
    body,
  });
  return status;
}

async function review({ verb, group, resource, subresource, namespace }: AccessCheck): Promise<boolean> {
  const resourceAttributes = { verb, group, resource, subresource, namespace };
  const body = { apiVersion: API_VERSION, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  const { status } = await callUntilAnswered<{ status: { allowed: boolean } }>(
    `${REVIEWS}/selfsubjectaccessreviews`,
    {
      method: 'POST',
      body,
    },
  );
  return status.allowed;
}

export const ACCESS = {
  changeNodes: { verb: 'patch', resource: 'nodes' },
  deleteNodes: { verb: 'delete', resource: 'nodes' },
  evict: { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: '' },
  readSecrets: { verb: 'list', resource: 'secrets', namespace: 'kube-system' },
  revoke: { verb: 'patch', resource: 'secrets', namespace: 'kube-system' },
  makeTokens: { verb: 'create', resource: 'secrets', namespace: 'kube-system' },
  deleteTokens: { verb: 'delete', resource: 'secrets', namespace: 'kube-system' },
  approve: {
    ...{ verb: 'update', group: 'certificates.k8s.io' },
    ...{ resource: 'certificatesigningrequests', subresource: 'approval' },
  },
  foresee: { verb: 'create', group: 'fleet.everynode.dev', resource: 'hosteffects' },
} as const satisfies Record<string, AccessCheck>;
