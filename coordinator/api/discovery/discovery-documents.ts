/**
 * Discovery documents of the served resources, in the aggregated form (one document) and the plain form (one per
 * group).
 */
import { apiVersionOf, type Kind, type Subresource } from '../../kinds/kind.js';

/** The fields of a resource that discovery needs. Every Kind has them. */
export type DiscoveredResource = Pick<
  Kind,
  | 'group'
  | 'version'
  | 'kind'
  | 'resource'
  | 'singular'
  | 'shortNames'
  | 'categories'
  | 'namespaced'
  | 'verbs'
> & { readonly subresources: Readonly<Record<string, Subresource>> };

/** The content type by which clients recognise aggregated discovery. */
export const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Returns `/apis/apps/v1`, or `/api/v1` for the core group. */
export function rootPath({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  return group ? `/apis/${group}/${version}` : `/api/${version}`;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function aggregatedResource(resource: DiscoveredResource): object {
  const { group, version, kind } = resource;
  const subresources = Object.entries(resource.subresources).map(([subresource, served]) => ({
    subresource,
    responseKind: { group: served.group, version: served.version, kind: served.kind },
    verbs: served.verbs,
  }));
  return {
    resource: resource.resource,
    responseKind: { group, version, kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/**
 * Returns the APIGroupDiscoveryList of `/api` (`isCore`) or `/apis`. Groups are in the order of their first resource.
 */
export function aggregatedDiscovery(resources: readonly DiscoveredResource[], isCore: boolean): object {
  const groups = groupBy(
    resources.filter(({ group }) => (group === '') === isCore),
    ({ group }) => group,
  );
  const items = [...groups].map(([name, members]) => ({
    metadata: name ? { name } : {},
    versions: [...groupBy(members, ({ version }) => version)].map(([version, versionMembers]) => ({
      version,
      resources: versionMembers.map(aggregatedResource),
      freshness: 'Current',
    })),
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

export function coreVersions(resources: readonly DiscoveredResource[]): object {
  const versions = new Set(resources.filter(({ group }) => group === '').map(({ version }) => version));
  return { kind: 'APIVersions', versions: [...versions], serverAddressByClientCIDRs: [] };
}

/** Returns the APIGroup of `/apis/G`; undefined for an unknown group. */
export function groupDocument(resources: readonly DiscoveredResource[], name: string): object | undefined {
  const members = resources.filter(({ group }) => group === name && group !== '');
  const versions = [...new Set(members.map(({ version }) => version))].map((version) => ({
    groupVersion: apiVersionOf({ group: name, version }),
    version,
  }));
  if (versions.length === 0) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', name, versions, preferredVersion: versions[0] };
}

export function groupList(resources: readonly DiscoveredResource[]): object {
  const names = [...new Set(resources.map(({ group }) => group).filter((group) => group !== ''))];
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: names.map((name) => groupDocument(resources, name)),
  };
}

function plainEntries(resource: DiscoveredResource): object[] {
  const { kind, namespaced, verbs, shortNames, categories } = resource;
  const main = {
    name: resource.resource,
    singularName: resource.singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
  const subresources = Object.entries(resource.subresources).map(([name, served]) => ({
    name: `${resource.resource}/${name}`,
    singularName: '',
    namespaced,
    ...(apiVersionOf(served) === apiVersionOf(resource)
      ? {}
      : { group: served.group, version: served.version }),
    kind: served.kind,
    verbs: served.verbs,
  }));
  return [main, ...subresources];
}

/** Returns the APIResourceList of `/api/v1` or `/apis/G/V`; undefined for an unknown group or version. */
export function resourceList(
  resources: readonly DiscoveredResource[],
  group: string,
  version: string,
): object | undefined {
  const members = resources.filter((resource) => resource.group === group && resource.version === version);
  if (members.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: members.flatMap(plainEntries),
  };
}
