/** Validation of Endpoints and EndpointSlices (pkg/apis/core/validation, pkg/apis/discovery/validation). */
import { isIPv4 } from 'node:net';
import type {
  Endpoint,
  EndpointAddress,
  EndpointPort,
  EndpointSlice,
  EndpointSubset,
  Endpoints,
} from '../../../shared/kube/services/endpoint-types.js';
import type { FieldError } from '../kind.js';
import { isPlainIPv6, validateIp, validateNonSpecialIp } from '../validation/address-rules.js';
import {
  duplicate,
  FIELD_IMMUTABLE,
  forbidden,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../validation/field-error.js';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from '../validation/name-rules.js';
import { invalidFor, validateLabels } from '../validation/object-meta-validation.js';
import { validateProtocol } from './service-port-validation.js';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MAX_ENDPOINTS = 1_000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;
const HOSTNAME_LABEL = 'kubernetes.io/hostname';

export function validateEndpoints({ subsets = [] }: Endpoints): FieldError[] {
  return subsets.flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`));
}

function validateSubset(
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
  path: string,
): FieldError[] {
  const isEmpty = addresses.length + notReadyAddresses.length === 0;
  return [
    ...(isEmpty ? [required(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...addresses.flatMap((address, index) => validateAddress(address, `${path}.addresses[${index}]`)),
    ...notReadyAddresses.flatMap((address, index) =>
      validateAddress(address, `${path}.notReadyAddresses[${index}]`),
    ),
    ...ports.flatMap((port, index) => validateSubsetPort(port, ports.length > 1, `${path}.ports[${index}]`)),
  ];
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, path: string): FieldError[] {
  const errors = [
    ...validateIp(ip ?? '', `${path}.ip`),
    ...(hostname ? invalidFor(`${path}.hostname`, hostname, dnsLabelProblems(hostname)) : []),
    ...validateNodeName(nodeName, path),
  ];
  return errors.length > 0 ? errors : validateNonSpecialIp(ip, `${path}.ip`);
}

function validateNodeName(nodeName: string | undefined, path: string): FieldError[] {
  return nodeName === undefined
    ? []
    : invalidFor(`${path}.nodeName`, nodeName, dnsSubdomainProblems(nodeName));
}

function validateSubsetPort(
  { name, port = 0, protocol, appProtocol }: EndpointPort,
  isNamed: boolean,
  path: string,
): FieldError[] {
  const nameErrors = name
    ? invalidFor(`${path}.name`, name, dnsLabelProblems(name))
    : isNamed
      ? [required(`${path}.name`)]
      : [];
  return [
    ...nameErrors,
    ...invalidFor(`${path}.port`, port, portNumberProblems(port)),
    ...validateProtocol(protocol, `${path}.protocol`),
    ...validateAppProtocol(appProtocol, path),
  ];
}

function validateAppProtocol(appProtocol: string | undefined, path: string): FieldError[] {
  return appProtocol === undefined
    ? []
    : invalidFor(`${path}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
}

/** An address stays on its node (validateEpAddrNodeNameTransition). */
export function validateEndpointsUpdate({ subsets = [] }: Endpoints, current: Endpoints): FieldError[] {
  const known = new Map(
    (current.subsets ?? [])
      .flatMap(addressesOf)
      .flatMap(({ ip, nodeName }) => (nodeName ? [[ip, nodeName] as const] : [])),
  );
  return subsets.flatMap((subset, index) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip, nodeName }, at) => {
        const before = known.get(ip);
        if (before === undefined || nodeName === undefined || nodeName === before) return [];
        return [
          forbidden(
            `subsets[${index}].${list}[${at}].nodeName`,
            `Cannot change NodeName for ${ip} to ${nodeName}`,
          ),
        ];
      }),
    ),
  );
}

function addressesOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): EndpointAddress[] {
  return [...addresses, ...notReadyAddresses];
}

export function validateEndpointSlice({ addressType, endpoints, ports }: EndpointSlice): FieldError[] {
  return [
    ...validateAddressType(addressType),
    ...validateMembers(endpoints ?? [], addressType),
    ...validateSlicePorts(ports ?? []),
  ];
}

function validateAddressType(addressType: string): FieldError[] {
  if (!addressType) return [required('addressType')];
  return ADDRESS_TYPES.includes(addressType) ? [] : [notSupported('addressType', addressType, ADDRESS_TYPES)];
}

export function validateEndpointSliceUpdate(
  { addressType }: EndpointSlice,
  current: EndpointSlice,
): FieldError[] {
  return addressType === current.addressType
    ? []
    : [invalidValue('addressType', addressType, FIELD_IMMUTABLE)];
}

function validateMembers(endpoints: readonly Endpoint[], addressType: string): FieldError[] {
  if (endpoints.length > MAX_ENDPOINTS) return [tooMany('endpoints', endpoints.length, MAX_ENDPOINTS)];
  return endpoints.flatMap((endpoint, index) => validateMember(endpoint, addressType, `endpoints[${index}]`));
}

function validateMember(endpoint: Endpoint, addressType: string, path: string): FieldError[] {
  const { addresses = [], hostname, nodeName } = endpoint;
  const field = `${path}.addresses`;
  return [
    ...(addresses.length === 0 ? [required(field, 'must contain at least 1 address')] : []),
    ...(addresses.length > MAX_ADDRESSES ? [tooMany(field, addresses.length, MAX_ADDRESSES)] : []),
    ...addresses.flatMap((address, index) =>
      validateTypedAddress(address, addressType, `${field}[${index}]`),
    ),
    ...validateNodeName(nodeName, path),
    ...validateTopology(endpoint, `${path}.deprecatedTopology`),
    ...(hostname === undefined ? [] : invalidFor(`${path}.hostname`, hostname, dnsLabelProblems(hostname))),
    ...validateHints(endpoint.hints?.forZones, `${path}.hints.forZones`, labelValueProblems),
    ...validateHints(endpoint.hints?.forNodes, `${path}.hints.forNodes`, dnsSubdomainProblems),
  ];
}

function validateTypedAddress(address: string, addressType: string, field: string): FieldError[] {
  switch (addressType) {
    case 'IPv4':
      return isIPv4(address)
        ? validateNonSpecialIp(address, field)
        : [invalidValue(field, address, 'must be a valid IPv4 address')];
    case 'IPv6':
      return isPlainIPv6(address)
        ? validateNonSpecialIp(address, field)
        : [invalidValue(field, address, 'must be a valid IPv6 address')];
    case 'FQDN':
      return validateDomain(address, field);
    default:
      return [];
  }
}

function validateDomain(address: string, field: string): FieldError[] {
  const name = address.replace(/\.$/, '');
  if (name === '') return [required(field)];
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return invalidFor(field, address, problems);
  const detail = 'should be a domain with at least two segments separated by dots';
  return name.includes('.') ? [] : [invalidValue(field, address, detail)];
}

function validateTopology({ deprecatedTopology = {} }: Endpoint, field: string): FieldError[] {
  const { length } = Object.keys(deprecatedTopology);
  const node = deprecatedTopology[HOSTNAME_LABEL];
  return [
    ...(length > MAX_TOPOLOGY_LABELS ? [tooMany(field, length, MAX_TOPOLOGY_LABELS)] : []),
    ...validateLabels(deprecatedTopology, field),
    ...(node === undefined
      ? []
      : [invalidValue(`${field}[${HOSTNAME_LABEL}]`, node, 'use nodeName instead')]),
  ];
}

function validateHints(
  hints: readonly { name: string }[] | undefined,
  field: string,
  problems: (name: string) => string[],
): FieldError[] {
  const names = (hints ?? []).map(({ name }) => name);
  if (names.length > MAX_HINTS) return [tooMany(field, names.length, MAX_HINTS)];
  return names.flatMap((name, index) => [
    ...(names.indexOf(name) < index ? [duplicate(`${field}[${index}].name`, name)] : []),
    ...invalidFor(`${field}[${index}].name`, name, problems(name)),
  ]);
}

function validateSlicePorts(ports: readonly EndpointPort[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [tooMany('ports', ports.length, MAX_PORTS)];
  const names = ports.map(({ name = '' }) => name);
  return ports.flatMap(({ name = '', protocol, appProtocol }, index) => [
    ...(name === '' ? [] : invalidFor(`ports[${index}].name`, name, dnsLabelProblems(name))),
    ...(names.indexOf(name) < index ? [duplicate(`ports[${index}].name`, name)] : []),
    ...validateProtocol(protocol, `ports[${index}].protocol`),
    ...validateAppProtocol(appProtocol, `ports[${index}]`),
  ]);
}
