/** Generators of users with random roles, and of random requests to every resource. */
import fc from 'fast-check';
import type { PolicyRule } from '../../../shared/kube/access/rbac-types.js';
import { markedName, NAMESPACES, NODES } from './marked-fleet.js';
import { LISTED_RESOURCES, type ListedResource } from './served-resources.js';

/** Limit of random requests per user. */
const MOST_REQUESTS = 40;
/** Limit of rules for cluster-scoped resources per user. */
const MOST_RULES = 16;

/** The rules of a user: for cluster-scoped resources, for namespaced ones in all namespaces, and in each namespace. */
export interface GeneratedUser {
  cluster: PolicyRule[];
  everywhere: PolicyRule[];
  inNamespace: Record<string, PolicyRule[]>;
}

export interface GeneratedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

const VERBS = fc.constantFrom<string[]>(
  ['*'],
  ['get', 'list', 'watch'],
  ['list'],
  ['get'],
  ['create'],
  ['create', 'update', 'patch', 'delete', 'deletecollection'],
);

/** The audit log shows the requests of all namespaces by design, so no generated user may read it. */
const GRANTED = LISTED_RESOURCES.filter(({ resource }) => resource !== 'auditevents');

function groupOf(root: string): string {
  return root === '/api/v1' ? '' : (root.split('/')[2] ?? '');
}

/** Rules for some resources of one scope, all with the same verbs. */
function rulesFor(namespaced: boolean, most: number): fc.Arbitrary<PolicyRule[]> {
  const rows = GRANTED.filter((listed) => listed.namespaced === namespaced);
  return fc.tuple(fc.subarray(rows, { minLength: 1, maxLength: most }), VERBS).map(([chosen, verbs]) =>
    chosen.map(({ root, resource, subresources }) => ({
      verbs,
      apiGroups: [groupOf(root)],
      resources: [resource, ...subresources.map((subresource) => `${resource}/${subresource}`)],
    })),
  );
}

const EVERYTHING: PolicyRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const RULES_IN_NAMESPACE = fc.oneof(
  { weight: 3, arbitrary: fc.constant<PolicyRule[]>([]) },
  { weight: 2, arbitrary: fc.constant<PolicyRule[]>([EVERYTHING]) },
  { weight: 2, arbitrary: rulesFor(true, 3) },
  // A namespaced role may name cluster-scoped resources, and grants no access to them.
  { weight: 1, arbitrary: rulesFor(false, 3) },
);

const USER: fc.Arbitrary<GeneratedUser> = fc.record({
  cluster: rulesFor(false, MOST_RULES),
  everywhere: fc.oneof(
    { weight: 7, arbitrary: fc.constant<PolicyRule[]>([]) },
    { weight: 1, arbitrary: rulesFor(true, 2) },
  ),
  inNamespace: fc
    .tuple(...NAMESPACES.map(() => RULES_IN_NAMESPACE))
    .map((rules) =>
      Object.fromEntries(NAMESPACES.map((namespace, index) => [namespace, rules[index] ?? []])),
    ),
});

/**
 * Returns the namespaces in which the user has no rule for a namespaced resource. A write returns the written object,
 * so a rule of any verb exposes the names of its namespace. A rule for a cluster-scoped resource exposes none, also
 * within a Role.
 */
export function closedNamespaces({ cluster, everywhere, inNamespace }: GeneratedUser): string[] {
  if ([...cluster, ...everywhere].some(isForNamespaced)) return [];
  return NAMESPACES.filter((namespace) => !inNamespace[namespace]?.some(isForNamespaced));
}

function isForNamespaced({ apiGroups = [], resources = [] }: PolicyRule): boolean {
  return LISTED_RESOURCES.some(
    ({ root, resource, namespaced }) =>
      namespaced &&
      (resources.includes('*') || resources.includes(resource)) &&
      (apiGroups.includes('*') || apiGroups.includes(groupOf(root))),
  );
}

const NAMESPACE = fc.constantFrom(...NAMESPACES);
const MARKED_NAME = fc
  .tuple(fc.constantFrom('daemonsets', 'pods', 'rolloutpolicies', 'secrets', 'events'), NAMESPACE)
  .map(([resource, namespace]) => markedName(resource, namespace));
const NAME = fc.oneof(fc.constantFrom('x', ...NODES), MARKED_NAME);

const PARAMETER = fc.oneof(
  fc.constantFrom(
    'watch=true',
    'limit=1',
    'days=3',
    'code=Failed',
    'pretty=true',
    'labelSelector=app%3Dmarked',
  ),
  fc.constantFrom(
    ...NODES.map((node) => `node=${node}`),
    ...NODES.map((node) => `fieldSelector=spec.nodeName%3D${node}`),
  ),
  MARKED_NAME.map((name) => `fieldSelector=metadata.name%3D${name}`),
  NAMESPACE.map((namespace) => `fieldSelector=metadata.namespace%3D${namespace}`),
);
const ACCEPT = fc.constantFrom(
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io;includeObject=Object',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
);

const TEMPLATE = {
  metadata: { labels: { app: 'marked' } },
  spec: { containers: [{ name: 'c', image: 'app:2' }] },
};
function daemonSetManifest(namespace: string, name: string) {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name, namespace } },
    spec: { selector: { matchLabels: { app: 'marked' } }, template: TEMPLATE },
  };
}

function policyManifest(namespace: string, name: string) {
  return {
    ...{ apiVersion: 'fleet.everynode.dev/v1', kind: 'RolloutPolicy', metadata: { name, namespace } },
    spec: { selector: {}, waves: [{ name: 'w', nodes: 1 }] },
  };
}

const DAEMON_SET = fc.tuple(NAMESPACE, NAME).map(([namespace, name]) => daemonSetManifest(namespace, name));
const POLICY = fc.tuple(NAMESPACE, NAME).map(([namespace, name]) => policyManifest(namespace, name));
const NODE = fc.constantFrom(...NODES).map((name) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { a: 'b' } },
  spec: { taints: [{ key: 'k', effect: 'NoExecute' }] },
}));
const MANIFEST = fc.oneof(DAEMON_SET, POLICY, NODE);

const PLAN = fc.record({
  manifests: fc.array(MANIFEST, { minLength: 1, maxLength: 3 }),
  namespace: NAMESPACE,
  mode: fc.constantFrom('apply', 'replace'),
});
const HOST_EFFECT = fc.constantFrom(
  { hosts: NODES, change: { taints: { add: [{ key: 'k', effect: 'NoExecute' }] } } },
  { hosts: NODES, change: { labels: { a: 'b' }, unschedulable: true } },
);
const REVIEW = fc
  .record({
    namespace: NAMESPACE,
    verb: fc.constantFrom('get', 'list', '*'),
    resource: fc.constantFrom('pods', 'hosts'),
  })
  .map((resourceAttributes) => ({
    spec: { resourceAttributes, user: 'somebody', namespace: resourceAttributes.namespace, token: 'none' },
  }));

function bodyFor(resource: string): fc.Arbitrary<unknown> {
  if (resource === 'plan') return PLAN;
  if (resource === 'hosteffects') return HOST_EFFECT;
  return resource.endsWith('reviews')
    ? REVIEW
    : fc.oneof(MANIFEST, fc.constant({ metadata: { labels: { a: 'b' } } }));
}

/** Requests that could store an object are dry runs, so nothing is stored. */
function requestOn(listed: ListedResource): fc.Arbitrary<GeneratedRequest> {
  const parts = fc.record({
    namespace: fc.option(NAMESPACE, { freq: listed.namespaced ? 4 : 2 }),
    name: fc.option(NAME, { freq: 2 }),
    subresource: fc.option(fc.constantFrom(...listed.subresources, 'status'), { freq: 2 }),
    method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE'),
    parameters: fc.array(PARAMETER, { maxLength: 2 }),
    accept: ACCEPT,
    body: bodyFor(listed.resource),
    actsAs: fc.option(NAMESPACE, { freq: 8 }),
  });
  return parts.map(({ namespace, name, subresource, method, parameters, accept, body, actsAs }) => {
    const below = name ? [name, ...(subresource ? [subresource] : [])] : [];
    const path = [listed.root, ...(namespace ? ['namespaces', namespace] : []), listed.resource, ...below];
    const isRead = method === 'GET';
    const query = [...parameters, ...(isRead ? [] : ['dryRun=All'])].join('&');
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return {
      method,
      path: `${path.join('/')}${query ? `?${query}` : ''}`,
      headers: {
        accept,
        ...(isRead ? {} : { 'content-type': type }),
        ...(actsAs ? { 'impersonate-user': `system:serviceaccount:${actsAs}:any` } : {}),
      },
      ...(isRead ? {} : { body }),
    };
  });
}

const FLEET = '/apis/fleet.everynode.dev/v1';
const JSON_BODY = { 'content-type': 'application/json' };

/** One valid request for each computed response, at cluster scope and below each namespace. */
function everyComputedAnswer(accept: string): GeneratedRequest[] {
  const get = (path: string): GeneratedRequest => ({ method: 'GET', path, headers: { accept } });
  const post = (path: string, body: unknown): GeneratedRequest => ({
    ...{ method: 'POST', path, headers: { accept, ...JSON_BODY }, body },
  });
  const taints = [{ key: 'k', effect: 'NoExecute' }];
  const manifests = NODES.map((name) => ({
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { taints } },
  }));
  const scopes = ['', ...NAMESPACES.map((namespace) => `/namespaces/${namespace}`)];
  return [
    ...scopes.flatMap((scope) => [
      ...['', '?watch=true', '/n1', '/n1/readings'].map((rest) => get(`${FLEET}${scope}/hosts${rest}`)),
      ...['nodes', 'pods'].map((resource) => get(`/apis/metrics.k8s.io/v1beta1${scope}/${resource}`)),
      ...['joinaddress', 'restore', 'auditevents'].map((resource) => get(`${FLEET}${scope}/${resource}`)),
      post(`${FLEET}${scope}/hosteffects`, { hosts: NODES, change: { taints: { add: taints } } }),
      post(`${FLEET}${scope}/plan`, { manifests }),
    ]),
    ...NAMESPACES.flatMap((namespace) => [
      get(`${FLEET}/namespaces/${namespace}/daemonsets/${markedName('daemonsets', namespace)}/why`),
      get(`${FLEET}/namespaces/${namespace}/daemonsets/${markedName('daemonsets', namespace)}/why?node=n1`),
      get(`${FLEET}/namespaces/${namespace}/services/${markedName('services', namespace)}/why`),
      get(`${FLEET}/namespaces/${namespace}/rollouts/${markedName('rollouts', namespace)}/hosts`),
      get(
        `${FLEET}/namespaces/${namespace}/rolloutpolicies/${markedName('rolloutpolicies', namespace)}/calendar`,
      ),
      // The plan of a stored DaemonSet names its policy, and warnings about a policy name DaemonSets.
      post(`${FLEET}/plan`, {
        manifests: [daemonSetManifest(namespace, markedName('daemonsets', namespace))],
      }),
      post(`${FLEET}/plan`, { manifests: [policyManifest(namespace, 'zz')] }),
    ]),
  ];
}

/** A user with valid requests for every computed response, and random requests. */
export const USER_WITH_REQUESTS: fc.Arbitrary<[GeneratedUser, GeneratedRequest[]]> = fc
  .tuple(
    USER,
    ACCEPT,
    fc.array(fc.constantFrom(...LISTED_RESOURCES).chain(requestOn), {
      maxLength: MOST_REQUESTS,
      size: 'max',
    }),
  )
  .map(([user, accept, requests]) => [user, [...everyComputedAnswer(accept), ...requests]]);
