/**
 * All resources that the API must serve, written by hand, so that tests find a wrong scope in the product's own table.
 */

export interface ListedResource {
  /** `/api/v1` or `/apis/GROUP/VERSION`. */
  root: string;
  resource: string;
  namespaced: boolean;
  subresources: readonly string[];
}

const CLUSTER = false;
const NAMESPACED = true;

const ROWS: [root: string, resource: string, namespaced: boolean, subresources?: string][] = [
  ['/api/v1', 'configmaps', NAMESPACED],
  ['/api/v1', 'endpoints', NAMESPACED],
  ['/api/v1', 'events', NAMESPACED],
  ['/api/v1', 'namespaces', CLUSTER, 'finalize status'],
  ['/api/v1', 'nodes', CLUSTER, 'proxy status'],
  ['/api/v1', 'pods', NAMESPACED, 'attach binding ephemeralcontainers eviction exec log portforward status'],
  ['/api/v1', 'secrets', NAMESPACED],
  ['/api/v1', 'serviceaccounts', NAMESPACED, 'token'],
  ['/api/v1', 'services', NAMESPACED, 'status'],
  ['/apis/admissionregistration.k8s.io/v1', 'validatingadmissionpolicies', CLUSTER, 'status'],
  ['/apis/admissionregistration.k8s.io/v1', 'validatingadmissionpolicybindings', CLUSTER],
  ['/apis/admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations', CLUSTER],
  ['/apis/admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations', CLUSTER],
  ['/apis/apps/v1', 'controllerrevisions', NAMESPACED],
  ['/apis/apps/v1', 'daemonsets', NAMESPACED, 'status'],
  ['/apis/certificates.k8s.io/v1', 'certificatesigningrequests', CLUSTER, 'approval status'],
  ['/apis/coordination.k8s.io/v1', 'leases', NAMESPACED],
  ['/apis/discovery.k8s.io/v1', 'endpointslices', NAMESPACED],
  ['/apis/events.k8s.io/v1', 'events', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'crondaemonjobs', NAMESPACED, 'status'],
  ['/apis/fleet.everynode.dev/v1', 'daemonjobs', NAMESPACED, 'hosts status'],
  ['/apis/fleet.everynode.dev/v1', 'daemonjobpreviews', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'effectivevalues', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'daemonjobresults', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'daemonsetoverrides', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'hostvalues', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'rollouts', NAMESPACED, 'hosts status'],
  ['/apis/fleet.everynode.dev/v1', 'services', NAMESPACED, 'why'],
  ['/apis/fleet.everynode.dev/v1', 'rolloutpolicies', NAMESPACED, 'calendar'],
  ['/apis/rbac.authorization.k8s.io/v1', 'clusterrolebindings', CLUSTER],
  ['/apis/rbac.authorization.k8s.io/v1', 'clusterroles', CLUSTER],
  ['/apis/rbac.authorization.k8s.io/v1', 'rolebindings', NAMESPACED],
  ['/apis/rbac.authorization.k8s.io/v1', 'roles', NAMESPACED],
  ['/apis/scheduling.k8s.io/v1', 'priorityclasses', CLUSTER],
  ['/api/v1', 'limitranges', NAMESPACED],
  ['/api/v1', 'persistentvolumeclaims', NAMESPACED, 'status'],
  ['/api/v1', 'persistentvolumes', CLUSTER, 'status'],
  ['/api/v1', 'podtemplates', NAMESPACED],
  ['/api/v1', 'resourcequotas', NAMESPACED, 'status'],
  ['/api/v1', 'replicationcontrollers', NAMESPACED],
  ['/apis/apps/v1', 'deployments', NAMESPACED, 'scale status'],
  ['/apis/apps/v1', 'replicasets', NAMESPACED, 'scale status'],
  ['/apis/apps/v1', 'statefulsets', NAMESPACED],
  ['/apis/batch/v1', 'cronjobs', NAMESPACED, 'status'],
  ['/apis/batch/v1', 'jobs', NAMESPACED, 'status'],
  ['/apis/autoscaling/v2', 'horizontalpodautoscalers', NAMESPACED, 'status'],
  ['/apis/networking.k8s.io/v1', 'ingressclasses', CLUSTER],
  ['/apis/networking.k8s.io/v1', 'ingresses', NAMESPACED, 'status'],
  ['/apis/networking.k8s.io/v1', 'networkpolicies', NAMESPACED],
  ['/apis/apiregistration.k8s.io/v1', 'apiservices', CLUSTER],
  ['/apis/node.k8s.io/v1', 'runtimeclasses', CLUSTER],
  ['/apis/policy/v1', 'poddisruptionbudgets', NAMESPACED, 'status'],
  ['/apis/storage.k8s.io/v1', 'csidrivers', CLUSTER],
  ['/apis/storage.k8s.io/v1', 'storageclasses', CLUSTER],
  ['/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions', CLUSTER, 'status'],
  ['/apis/authentication.k8s.io/v1', 'selfsubjectreviews', CLUSTER],
  ['/apis/authentication.k8s.io/v1', 'tokenreviews', CLUSTER],
  ['/apis/authorization.k8s.io/v1', 'selfsubjectaccessreviews', CLUSTER],
  ['/apis/authorization.k8s.io/v1', 'selfsubjectrulesreviews', CLUSTER],
  ['/apis/authorization.k8s.io/v1', 'subjectaccessreviews', CLUSTER],
  ['/apis/authorization.k8s.io/v1', 'localsubjectaccessreviews', NAMESPACED],
  ['/apis/metrics.k8s.io/v1beta1', 'nodes', CLUSTER],
  ['/apis/metrics.k8s.io/v1beta1', 'pods', NAMESPACED],
  ['/apis/fleet.everynode.dev/v1', 'hosts', CLUSTER, 'jobs meters readings'],
  ['/apis/fleet.everynode.dev/v1', 'auditevents', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'backups', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'coordinators', CLUSTER, 'stepdown'],
  ['/apis/fleet.everynode.dev/v1', 'coordinatortokens', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'hostavailability', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'hosteffects', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'joinaddress', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'plan', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'releases', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'releasetrust', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'restore', CLUSTER],
  ['/apis/fleet.everynode.dev/v1', 'daemonsets', NAMESPACED, 'why'],
];

export const LISTED_RESOURCES: readonly ListedResource[] = ROWS.map(
  ([root, resource, namespaced, subresources]) => ({
    root,
    resource,
    namespaced,
    subresources: subresources?.split(' ') ?? [],
  }),
);

/** Returns one request of each verb for a path, as `METHOD` and path. */
export function everyRequest({ resource, subresources }: ListedResource, base: string): string[] {
  const collection = `${base}/${resource}`;
  return [
    `GET ${collection}`,
    `GET ${collection}?watch=true`,
    `POST ${collection}`,
    `DELETE ${collection}`,
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${collection}/x`),
    ...subresources.flatMap((subresource) =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${collection}/x/${subresource}`),
    ),
  ];
}
