/** Loads the kinds that the API serves. Custom resources can appear at any time, so each page loads them again. */
import { useMemo } from 'react';
import { useApiResource } from '../api/use-api-resource.js';
import { type GroupDiscoveryList, listableKinds, type ServedKind } from './served-kinds.js';

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface ServedKinds {
  /** Absent until both documents are loaded. */
  kinds?: readonly ServedKind[];
  problem?: string | undefined;
}

export function useServedKinds(): ServedKinds {
  const core = useApiResource<GroupDiscoveryList>('/api', 'once', { accept: ACCEPT });
  const groups = useApiResource<GroupDiscoveryList>('/apis', 'once', { accept: ACCEPT });
  return useMemo(() => {
    const problem = core.problem ?? groups.problem;
    if (!core.answer || !groups.answer) return { problem };
    return { kinds: listableKinds([core.answer, groups.answer]), problem };
  }, [core.answer, core.problem, groups.answer, groups.problem]);
}
