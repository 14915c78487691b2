/** Loads a namespaced list that is requested instead of watched, in the namespaces that the user may read. */
import { useEffect } from 'react';
import { limitToNamespace, pathInScope, useListScope } from './namespace-choice.js';
import { type ApiResource, useApiResource } from './use-api-resource.js';

interface ScopedRequest {
  groupVersion: string;
  resource: string;
  /** Limits the list to one namespace. Empty: all that the user may read. */
  asked?: string;
  /** Parameters of the query, for example `limit=200`. */
  search?: string;
  /** The list is loaded again when it changes. */
  version: string;
  accept: string;
}

type ScopedResource<T> = ApiResource<T> & {
  /** `refused`: the user may list neither the cluster nor the namespace. */
  phase: 'loading' | 'loaded' | 'failed' | 'refused';
  /** Set if the list is limited to one namespace. */
  namespace?: string;
};

export function useScopedResource<T>(request: ScopedRequest): ScopedResource<T> {
  const { groupVersion, resource, asked = '', search = '', version, accept } = request;
  const whole = `${groupVersion}/${resource}`;
  const scope = useListScope(whole, asked);
  const path = pathInScope(groupVersion, resource, scope);
  const url = `${path ?? whole}${search && `?${search}`}`;
  const loaded = useApiResource<T>(url, path === undefined ? '' : version, { accept });
  const mustLimit = scope.kind === 'everywhere' && loaded.code === 403;
  useEffect(() => {
    if (mustLimit) limitToNamespace(whole);
  }, [mustLimit, whole]);
  if (scope.kind === 'refused') return { phase: 'refused' };
  if (scope.kind === 'loading' || mustLimit) return { phase: 'loading' };
  const phase = phaseOf(loaded);
  return { ...loaded, phase, ...(scope.kind === 'namespace' && { namespace: scope.namespace }) };
}

function phaseOf({ answer, code }: ApiResource<unknown>): ScopedResource<unknown>['phase'] {
  if (code === 403) return 'refused';
  if (code !== undefined) return 'failed';
  return answer === undefined ? 'loading' : 'loaded';
}
