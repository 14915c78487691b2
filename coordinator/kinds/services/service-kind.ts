/** v1 Service: a name, and usually an address, for a set of Pods. The registry allocates addresses and node ports. */
import { RELAY_PORTS_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import { type Kind, STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { keepServerAnnotation } from '../validation/object-meta-validation.js';
import { prepareServiceForCreate, setServiceDefaults } from './service-defaults.js';
import { prepareServiceForUpdate } from './service-update.js';
import { validateService, validateServiceStatus, validateServiceUpdate } from './service-validation.js';

function portsText({ spec }: Service): string {
  const texts = (spec?.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return texts.length > 0 ? texts.join(',') : NONE;
}

/** pkg/printers/internalversion getServiceExternalIP. */
function externalText({ spec = {}, status }: Service): string {
  if (spec.type === 'ExternalName') return spec.externalName ?? '';
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
  const balanced = spec.type === 'LoadBalancer' ? ingress.filter((text) => text !== '') : [];
  const addresses = [...new Set(balanced), ...(spec.externalIPs ?? [])];
  if (addresses.length > 0) return addresses.join(',');
  return spec.type === 'LoadBalancer' ? '<pending>' : NONE;
}

/** Names the fields that are stored without effect. */
function warnings({ spec = {} }: Service): string[] {
  const { externalIPs = [], loadBalancerSourceRanges = [] } = spec;
  const unused: [field: string, isSet: boolean][] = [
    ['externalIPs', externalIPs.length > 0],
    ['healthCheckNodePort', Boolean(spec.healthCheckNodePort)],
    ['loadBalancerClass', spec.loadBalancerClass !== undefined],
    ['loadBalancerIP', Boolean(spec.loadBalancerIP)],
    ['loadBalancerSourceRanges', loadBalancerSourceRanges.length > 0],
  ];
  const texts = unused.flatMap(([field, isSet]) =>
    isSet ? [`spec.${field}: stored, but has no effect`] : [],
  );
  if (spec.type !== 'LoadBalancer') return texts;
  const instead =
    spec.allocateLoadBalancerNodePorts === false ? 'it has no node ports either' : 'use its node ports';
  return [`spec.type: no load balancer is created; ${instead}`, ...texts];
}

export const serviceKind: Kind<Service> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  resource: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  // Upstream relaxes the older rule, which forbids a leading digit (KEP-5311).
  nameRule: 'dnsLabel',
  schema: 'io.k8s.api.core.v1.Service',
  subresources: { status: { group: '', version: 'v1', kind: 'Service', verbs: STATUS_VERBS } },
  columns: [
    NAME_COLUMN,
    column('Type', 'string', 'How clients reach the Service.', ({ spec }) => spec?.type ?? ''),
    column(
      'Cluster-IP',
      'string',
      'Address of the Service.',
      ({ spec }) => spec?.clusterIPs?.[0] || spec?.clusterIP || NONE,
    ),
    column('External-IP', 'string', 'Address or name outside the fleet.', externalText),
    column('Port(s)', 'string', 'Ports, with their node ports.', portsText),
    AGE_COLUMN,
    wideColumn('Selector', 'string', 'Labels of the Pods.', ({ spec }) => labelsText(spec?.selector)),
  ],
  fields: {
    'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '',
    'spec.type': ({ spec }) => spec?.type ?? '',
  },
  hasGeneration: false,
  setDefaults: setServiceDefaults,
  prepareForCreate: prepareServiceForCreate,
  prepareForUpdate: prepareServiceForUpdate,
  prepareForStatusUpdate: (next, current, context) => {
    keepServerAnnotation(RELAY_PORTS_ANNOTATION, next, current, context);
    next.spec = current.spec ?? {};
  },
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  validateStatusUpdate: validateServiceStatus,
  warnings,
};
