/** An audit event as a sentence: who did what to which object. Pure. */
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';

interface ActivitySentence {
  readonly who: string;
  /** A verb in the past tense, such as `changed`. */
  readonly did: string;
  /** The kind of the object, such as `DaemonSet`. */
  readonly kind: string;
  /** `NAMESPACE/NAME`, or the name of an object without a namespace. Empty if the request named none. */
  readonly object: string;
  /** Path of the object's page. Empty if it has none. */
  readonly href: string;
}

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  patch: 'changed',
  delete: 'deleted',
  deletecollection: 'deleted all',
  get: 'read',
  list: 'listed',
  watch: 'watched',
  join: 'joined as',
  connect: 'tried to connect to',
};

/** What a write of a subresource means. Other subresources are named after the object. */
const SUBRESOURCE_VERBS: Readonly<Record<string, string>> = {
  exec: 'ran a command in',
  attach: 'attached to',
  portforward: 'forwarded a port of',
  eviction: 'evicted',
  approval: 'decided on',
  scale: 'scaled',
  token: 'created a token for',
};

/** Kinds whose name is not the singular of their resource. */
const KINDS: Readonly<Record<string, string>> = {
  nodes: 'host',
  daemonsets: 'DaemonSet',
  daemonsetoverrides: 'DaemonSetOverride',
  daemonjobs: 'DaemonJob',
  crondaemonjobs: 'CronDaemonJob',
  cronjobs: 'CronJob',
  replicasets: 'ReplicaSet',
  hostvalues: 'HostValues',
  endpointslices: 'EndpointSlice',
  ingresses: 'Ingress',
  poddisruptionbudgets: 'PodDisruptionBudget',
  resourcequotas: 'ResourceQuota',
  rolloutpolicies: 'RolloutPolicy',
  configmaps: 'ConfigMap',
  certificatesigningrequests: 'CertificateSigningRequest',
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  rolebindings: 'RoleBinding',
  serviceaccounts: 'ServiceAccount',
  priorityclasses: 'PriorityClass',
  networkpolicies: 'NetworkPolicy',
  customresourcedefinitions: 'CustomResourceDefinition',
  releasetrust: 'ReleaseTrust',
};

export function activitySentence(event: AuditEvent): ActivitySentence {
  const { objectRef, verb, user, requestURI } = event;
  const who = user.username || 'an unknown user';
  if (!objectRef?.resource)
    return { who, did: `requested (${verb})`, kind: '', object: requestURI, href: '' };
  const { resource, namespace, name = '', subresource } = objectRef;
  const did = (subresource && SUBRESOURCE_VERBS[subresource]) ?? VERBS[verb] ?? verb;
  const isNamed = subresource === undefined || Object.hasOwn(SUBRESOURCE_VERBS, subresource);
  return {
    who,
    did,
    kind: isNamed ? kindOf(resource) : `${subresource} of ${kindOf(resource)}`,
    object: [namespace, name].filter(Boolean).join('/'),
    href: name && verb !== 'delete' ? pageOf(resource, namespace, name) : '',
  };
}

function kindOf(resource: string): string {
  const singular = resource.replace(/s$/, '');
  return KINDS[resource] ?? singular.charAt(0).toUpperCase() + singular.slice(1);
}

/** Pages of objects in a namespace. */
const PAGES: Readonly<Record<string, string>> = {
  daemonsets: '/daemonsets',
  rollouts: '/rollouts',
  pods: '/pods',
  services: '/services',
  daemonjobs: '/jobs',
  crondaemonjobs: '/jobs/scheduled',
  hostvalues: '/values',
};

function pageOf(resource: string, namespace: string | undefined, name: string): string {
  if (resource === 'nodes') return `/hosts/${name}`;
  const page = PAGES[resource];
  return namespace && page ? `${page}/${namespace}/${name}` : '';
}
