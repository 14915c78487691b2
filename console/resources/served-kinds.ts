/** The kinds that the API serves, from aggregated discovery, and the addresses of their pages. Pure. */

export interface ServedKind {
  /** "" for the core group. */
  group: string;
  version: string;
  /** Plural, as in URLs. */
  resource: string;
  kind: string;
  namespaced: boolean;
}

/** The parts of apidiscovery.k8s.io/v2 APIGroupDiscoveryList that the console reads. */
export interface GroupDiscoveryList {
  items: readonly {
    metadata: { name?: string };
    versions: readonly {
      version: string;
      resources?: readonly {
        resource: string;
        responseKind?: { kind: string };
        scope: 'Namespaced' | 'Cluster';
        verbs: readonly string[];
      }[];
    }[];
  }[];
}

/** Returns the kinds that can be listed, each in its preferred version only, sorted by name. */
export function listableKinds(documents: readonly GroupDiscoveryList[]): ServedKind[] {
  const groups = documents.flatMap(({ items }) => items);
  const kinds = groups.flatMap(({ metadata: { name: group = '' }, versions }) => {
    const seen = new Set<string>();
    return versions.flatMap(({ version, resources = [] }) =>
      resources.flatMap(({ resource, responseKind, scope, verbs }) => {
        if (seen.has(resource) || !verbs.includes('list')) return [];
        seen.add(resource);
        const kind = responseKind?.kind ?? resource;
        return [{ group, version, resource, kind, namespaced: scope === 'Namespaced' }];
      }),
    );
  });
  return kinds.sort((a, b) => a.kind.localeCompare(b.kind) || a.group.localeCompare(b.group));
}

/** Returns the kinds of which each typed word is in the name or the group. */
export function matchingKinds(kinds: readonly ServedKind[], typed: string): ServedKind[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return kinds.filter(({ kind, resource, group }) => {
    const whole = `${kind} ${resource} ${group}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

type Collection = Pick<ServedKind, 'group' | 'version' | 'resource'>;

/** Returns the API's path of a collection. Without a namespace: of all namespaces, or of a cluster-scoped kind. */
export function collectionPath({ group, version, resource }: Collection, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`;
}

/** Stands for the core group, and for no namespace, in addresses of pages. No group and no namespace has this name. */
const NONE = '-';

/** Returns the address of the list of a kind. */
export function listAddress({ group, version, resource }: Collection): string {
  return `/resources/${group || NONE}/${version}/${resource}`;
}

/** Kinds that have a page of their own. By `group/resource`. */
const OWN_PAGES: Readonly<Record<string, string>> = {
  'apps/daemonsets': '/daemonsets',
  '/pods': '/pods',
  '/services': '/services',
  'fleet.everynode.dev/crondaemonjobs': '/jobs/scheduled',
  'fleet.everynode.dev/daemonjobs': '/jobs',
  'fleet.everynode.dev/hostvalues': '/values',
  'fleet.everynode.dev/rollouts': '/rollouts',
};

/** Returns the address of an object's page: the page of its kind if there is one, else the general page. */
export function objectAddress(collection: Collection, namespace: string, name: string): string {
  const { group, resource } = collection;
  if (group === '' && resource === 'nodes') return `/hosts/${name}`;
  const own = OWN_PAGES[`${group}/${resource}`];
  if (own) return `${own}/${namespace}/${name}`;
  return `${listAddress(collection)}/${namespace || NONE}/${encodeURIComponent(name)}`;
}

/** Reads a group or a namespace from the address of a page. */
export function fromAddress(part: string | undefined): string {
  return part === undefined || part === NONE ? '' : part;
}

/** Returns the name for kubectl: `pods`, or `deployments.apps`. */
export function kubectlName({ group, resource }: Collection): string {
  return group === '' ? resource : `${resource}.${group}`;
}
