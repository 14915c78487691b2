/** Default ClusterRoles and bindings (plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go). */

import {
  type PolicyRule,
  RBAC_GROUP,
  type Role,
  type RoleBinding,
} from '../../../shared/kube/access/rbac-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';

const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
/** With the value `"false"`, the next start leaves the object unchanged. */
export const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const CORE = '';
const APPS = 'apps';
const BATCH = 'batch';
const NETWORKING = 'networking.k8s.io';
const POLICY = 'policy';
const AUTOSCALING = 'autoscaling';
const COORDINATION = 'coordination.k8s.io';
const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';
const DISCOVERY = 'discovery.k8s.io';
const METRICS = 'metrics.k8s.io';

const HEALTH = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const STREAMS = ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'];
/** Subresources by which a kubelet's port authorizes (pkg/kubelet/server/auth.go, KubeletFineGrainedAuthz). */
const NODE_PAGES = [
  'nodes/configz',
  'nodes/healthz',
  'nodes/log',
  'nodes/metrics',
  'nodes/pods',
  'nodes/proxy',
  'nodes/stats',
];
const EDITABLE = [
  'configmaps',
  'events',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'secrets',
  'serviceaccounts',
  'services',
  'services/proxy',
];
const VIEWABLE = [
  'configmaps',
  'endpoints',
  'persistentvolumeclaims',
  'persistentvolumeclaims/status',
  'pods',
  'replicationcontrollers',
  'serviceaccounts',
  'services',
  'services/status',
];
const VIEWABLE_ALONE = [
  'bindings',
  'events',
  'limitranges',
  'namespaces/status',
  'pods/log',
  'pods/status',
  'resourcequotas',
  'resourcequotas/status',
];

/** Upstream's rules, also for kinds without objects: whoever may create them gets the reason instead of a 403. */
const WORKLOADS: readonly [group: string, resources: readonly string[]][] = [
  [
    APPS,
    ['daemonsets', 'deployments', 'deployments/scale', 'replicasets', 'replicasets/scale', 'statefulsets'],
  ],
  [BATCH, ['cronjobs', 'jobs']],
  [NETWORKING, ['ingresses', 'networkpolicies']],
  [AUTOSCALING, ['horizontalpodautoscalers']],
  [POLICY, ['poddisruptionbudgets']],
];

function rule(verbs: string[], group: string, ...resources: string[]): PolicyRule {
  return { verbs, apiGroups: [group], resources };
}

function paths(...nonResourceURLs: string[]): PolicyRule {
  return { verbs: ['get'], nonResourceURLs };
}

function clusterRole(name: string, rules: PolicyRule[], labels: Record<string, string> = {}): Role {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels: { ...LABELS, ...labels }, annotations: { [AUTO_UPDATE]: 'true' } },
    rules,
  };
}

function aggregateTo(role: string): Record<string, string> {
  return { [`${RBAC_GROUP}/aggregate-to-${role}`]: 'true' };
}

/** A role with the rules of all roles with the label `aggregate-to-NAME`. */
function aggregated(name: string, labels: Record<string, string> = {}): Role {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] };
  return { ...clusterRole(name, [], labels), aggregationRule };
}

const EDIT_RULES = [
  rule(READ, CORE, ...STREAMS, 'secrets', 'services/proxy'),
  rule(['impersonate'], CORE, 'serviceaccounts'),
  rule(WRITE, CORE, 'pods', ...STREAMS),
  rule(['create'], CORE, 'pods/eviction'),
  rule(WRITE, CORE, ...EDITABLE),
  rule(['create'], CORE, 'serviceaccounts/token'),
  ...WORKLOADS.map(([group, resources]) => rule(WRITE, group, ...resources)),
  rule(WRITE, APPS, 'deployments/rollback'),
  rule([...WRITE, ...READ], COORDINATION, 'leases'),
  rule(
    WRITE,
    FLEET_GROUP,
    ...['crondaemonjobs', 'daemonjobs', 'daemonsetoverrides', 'hostvalues', 'rolloutpolicies', 'rollouts'],
  ),
  // The controller writes results. A deleted one, without its Pod, runs the job again on its host.
  rule(['delete', 'deletecollection'], FLEET_GROUP, 'daemonjobresults'),
  rule(['create'], FLEET_GROUP, 'daemonjobpreviews'),
];

const VIEW_RULES = [
  rule(READ, CORE, ...VIEWABLE),
  rule(READ, CORE, ...VIEWABLE_ALONE),
  // In a RoleBinding this is the binding's own namespace.
  rule(READ, CORE, 'namespaces'),
  rule(
    READ,
    APPS,
    'controllerrevisions',
    'daemonsets/status',
    'deployments/status',
    'replicasets/status',
    'statefulsets/status',
  ),
  rule(READ, BATCH, 'cronjobs/status', 'jobs/status'),
  rule(READ, AUTOSCALING, 'horizontalpodautoscalers/status'),
  rule(READ, POLICY, 'poddisruptionbudgets/status'),
  rule(READ, NETWORKING, 'ingresses/status'),
  ...WORKLOADS.map(([group, resources]) => rule(READ, group, ...resources)),
  rule(READ, DISCOVERY, 'endpointslices'),
  rule(
    READ,
    FLEET_GROUP,
    'crondaemonjobs',
    'crondaemonjobs/status',
    'daemonjobresults',
    'daemonjobs',
    'daemonjobs/hosts',
    'daemonjobs/status',
    'daemonsetoverrides',
    'daemonsets/why',
    'effectivevalues',
    'hostvalues',
    'rolloutpolicies',
    'rolloutpolicies/calendar',
    'rollouts',
    'rollouts/hosts',
    'rollouts/status',
    'services/why',
  ),
  rule(READ, METRICS, 'pods', 'nodes'),
];

/** In creation order. */
export const BOOTSTRAP_ROLES: readonly Role[] = [
  clusterRole('cluster-admin', [rule(['*'], '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }]),
  clusterRole('system:discovery', [
    paths(...HEALTH, '/openapi', '/openapi/*', '/api', '/api/*', '/apis', '/apis/*'),
  ]),
  clusterRole('system:monitoring', [
    paths('/metrics', '/metrics/agents', '/metrics/slis', ...HEALTH, '/healthz/*', '/livez/*', '/readyz/*'),
  ]),
  clusterRole('system:basic-user', [
    rule(['create'], AUTHORIZATION, 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'),
    rule(['create'], AUTHENTICATION, 'selfsubjectreviews'),
  ]),
  clusterRole('system:public-info-viewer', [paths(...HEALTH)]),
  clusterRole('system:service-account-issuer-discovery', [
    paths('/.well-known/openid-configuration', '/.well-known/openid-configuration/', '/openid/v1/jwks'),
  ]),
  clusterRole('system:auth-delegator', [
    rule(['create'], AUTHENTICATION, 'tokenreviews'),
    rule(['create'], AUTHORIZATION, 'subjectaccessreviews'),
  ]),
  clusterRole('system:kubelet-api-admin', [
    rule([...READ, 'proxy'], CORE, 'nodes'),
    rule(['*'], CORE, ...NODE_PAGES),
  ]),
  aggregated('admin'),
  aggregated('edit', aggregateTo('admin')),
  aggregated('view', aggregateTo('edit')),
  clusterRole(
    'system:aggregate-to-admin',
    [
      rule(['create'], AUTHORIZATION, 'localsubjectaccessreviews'),
      rule([...WRITE, ...READ], RBAC_GROUP, 'rolebindings', 'roles'),
    ],
    aggregateTo('admin'),
  ),
  clusterRole('system:aggregate-to-edit', EDIT_RULES, aggregateTo('edit')),
  clusterRole('system:aggregate-to-view', VIEW_RULES, aggregateTo('view')),
];

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

function clusterBinding(role: string, ...groups: string[]): RoleBinding {
  const { apiVersion = '', metadata } = clusterRole(role, []);
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
    subjects: groups.map((name) => ({ kind: 'Group', apiGroup: RBAC_GROUP, name })),
  };
}

/** Bindings of ClusterRoles only. */
export const BOOTSTRAP_BINDINGS: readonly RoleBinding[] = [
  clusterBinding('cluster-admin', 'system:masters'),
  clusterBinding('system:monitoring', 'system:monitoring'),
  clusterBinding('system:discovery', AUTHENTICATED),
  clusterBinding('system:basic-user', AUTHENTICATED),
  clusterBinding('system:public-info-viewer', AUTHENTICATED, UNAUTHENTICATED),
  clusterBinding('system:service-account-issuer-discovery', 'system:serviceaccounts'),
];
