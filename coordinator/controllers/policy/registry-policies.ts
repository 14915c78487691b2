/** LimitRanges and ResourceQuotas as the registry's admission reads them. */
import { BY_NAMESPACE, type Informers } from '../../informers/informer.js';
import type { Quotas, RegistryDeps } from '../../registry/registry.js';

interface PolicySources {
  informers: Pick<Informers, 'limitRanges'>;
  quotas: Quotas;
}

/** `sources` is called with each request, because the informers are built over the registry. */
export function registryPolicies(
  sources: () => PolicySources,
): Required<Pick<RegistryDeps, 'limitRanges' | 'quotas'>> {
  return {
    limitRanges: (namespace) => {
      const { limitRanges } = sources().informers;
      if (limitRanges.size === 0) return [];
      const found = [...limitRanges.indexed(BY_NAMESPACE, namespace)];
      return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    },
    quotas: {
      ready: () => sources().quotas.ready(),
      charge: (kind, next, current) => sources().quotas.charge(kind, next, current),
    },
  };
}
