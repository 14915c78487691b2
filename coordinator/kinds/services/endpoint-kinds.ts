/** v1 Endpoints and discovery.k8s.io/v1 EndpointSlice. A controller writes them for Services with a selector. */
import type { EndpointPort, EndpointSlice, Endpoints } from '../../../shared/kube/services/endpoint-types.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import {
  validateEndpointSlice,
  validateEndpointSliceUpdate,
  validateEndpoints,
  validateEndpointsUpdate,
} from './endpoint-validation.js';

/** Addresses and ports in a cell of `kubectl get`; the rest is counted (pkg/printers/internalversion formatEndpoints). */
const SHOWN = 3;

function shortList(texts: readonly string[]): string {
  if (texts.length === 0) return NONE;
  const rest = texts.length - SHOWN;
  return rest > 0 ? `${texts.slice(0, SHOWN).join(',')} + ${rest} more...` : texts.join(',');
}

function endpointTexts({ subsets = [] }: Endpoints): string {
  return shortList(
    subsets.flatMap(({ addresses = [], ports = [] }) =>
      ports.length === 0
        ? addresses.map(({ ip }) => ip)
        : ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip}:${port}`)),
    ),
  );
}

function setProtocols(ports: EndpointPort[] | null | undefined): void {
  for (const port of ports ?? []) port.protocol ||= 'TCP';
}

/** Labels count: they assign the slice to its Service (pkg/registry/discovery/endpointslice PrepareForUpdate). */
function isSameSlice(next: EndpointSlice, current: EndpointSlice): boolean {
  const content = ({ metadata: { labels }, addressType, endpoints, ports }: EndpointSlice) => ({
    labels,
    addressType,
    endpoints,
    ports,
  });
  return semanticallyEqual(content(next), content(current));
}

export const endpointsKind: Kind<Endpoints> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  resource: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.Endpoints',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Endpoints', 'string', 'Addresses and ports that are ready.', endpointTexts),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: ({ subsets }) => {
    for (const { ports } of subsets ?? []) setProtocols(ports);
  },
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate: validateEndpoints,
  validateUpdate: validateEndpointsUpdate,
  warnings: () => [],
};

export const endpointSliceKind: Kind<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  singular: 'endpointslice',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.discovery.v1.EndpointSlice',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('AddressType', 'string', 'Type of the addresses.', ({ addressType }) => addressType),
    column('Ports', 'string', 'Ports of every endpoint.', ({ ports }) =>
      shortList((ports ?? []).map(({ port }) => String(port ?? '*'))),
    ),
    column('Endpoints', 'string', 'Addresses of the endpoints.', ({ endpoints }) =>
      shortList((endpoints ?? []).flatMap(({ addresses }) => addresses)),
    ),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: ({ ports }) => {
    for (const port of ports ?? []) port.name ??= '';
    setProtocols(ports);
  },
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  prepareForUpdate: (next, current) => {
    const generation = current.metadata.generation ?? 0;
    next.metadata.generation = isSameSlice(next, current) ? generation : generation + 1;
  },
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  warnings: () => [],
};
