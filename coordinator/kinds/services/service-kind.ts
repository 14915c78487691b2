/** v1 Service: stored without effect, because there is no service routing. */
import { HEADLESS, type Service, type ServicePort } from '../../../shared/kube/services/service-types.js';
import { inertKind } from '../inert-kind.js';
import type { FieldError } from '../kind.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { invalidValue, notSupported, required } from '../validation/field-error.js';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const GREATEST_PORT = 65535;

/** Sets upstream's defaults. The address is always "None", because clients wait until there is one. */
function setDefaults(service: Service): void {
  service.spec ??= {};
  const { spec } = service;
  spec.type ??= 'ClusterIP';
  spec.sessionAffinity ??= 'None';
  for (const port of spec.ports ?? []) {
    port.protocol ??= 'TCP';
    if (port.targetPort === undefined || port.targetPort === '') port.targetPort = port.port;
  }
  if (spec.type === 'ExternalName') return;
  spec.internalTrafficPolicy ??= 'Cluster';
  spec.clusterIP ||= HEADLESS;
  spec.clusterIPs ??= [spec.clusterIP];
}

function validatePort({ port }: ServicePort, index: number): FieldError[] {
  if (Number.isInteger(port) && port >= 1 && port <= GREATEST_PORT) return [];
  return [
    invalidValue(`spec.ports[${index}].port`, port, `must be between 1 and ${GREATEST_PORT}, inclusive`),
  ];
}

function validate({ spec = {} }: Service): FieldError[] {
  const { type = '', externalName, ports = [] } = spec;
  const manyPorts = ports.length > 1;
  return [
    ...(TYPES.includes(type) ? [] : [notSupported('spec.type', type, TYPES)]),
    ...(type === 'ExternalName' && !externalName ? [required('spec.externalName')] : []),
    ...ports.flatMap(validatePort),
    ...ports.flatMap(({ name }, index) =>
      manyPorts && !name ? [required(`spec.ports[${index}].name`)] : [],
    ),
  ];
}

function portsText({ spec }: Service): string {
  const texts = (spec?.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return texts.length > 0 ? texts.join(',') : NONE;
}

function externalText({ spec }: Service): string {
  if (spec?.type === 'ExternalName') return spec.externalName ?? NONE;
  if (spec?.externalIPs?.length) return spec.externalIPs.join(',');
  return spec?.type === 'LoadBalancer' ? '<pending>' : NONE;
}

export const serviceKind = inertKind<Service>({
  group: '',
  kind: 'Service',
  resource: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  nameRule: 'dnsLabel',
  schema: 'io.k8s.api.core.v1.Service',
  columns: [
    NAME_COLUMN,
    column('Type', 'string', 'How it would be reached.', ({ spec }) => spec?.type ?? ''),
    column('Cluster-IP', 'string', 'Its own address.', ({ spec }) => spec?.clusterIP || NONE),
    column('External-IP', 'string', 'Address from outside.', externalText),
    column('Port(s)', 'string', 'Ports that it names.', portsText),
    AGE_COLUMN,
    wideColumn('Selector', 'string', 'Which Pods it means.', ({ spec }) => labelsText(spec?.selector)),
  ],
  setDefaults,
  prepareForCreate: (service) => {
    service.status = { loadBalancer: {} };
  },
  prepareForUpdate: (next, current) => {
    next.status = current.status ?? {};
  },
  validate,
});
