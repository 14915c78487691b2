/** Validation of a Service's addresses and IP families (ValidateServiceClusterIPsRelatedFields, initIPFamilyFields). */
import { isIPv6 } from 'node:net';
import {
  HEADLESS,
  isHeadless,
  needsClusterIP,
  needsNodePort,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import type { FieldError } from '../kind.js';
import { validateIp } from '../validation/address-rules.js';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../validation/field-error.js';

const FAMILIES = ['IPv4', 'IPv6'];
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const MULTIPLE = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
const SET_ONCE = 'may not change once set';

export function validateAddresses(spec: ServiceSpec): FieldError[] {
  if (!needsClusterIP(spec)) return validateNoAddresses(spec);
  const { clusterIPs = [] } = spec;
  const addressErrors = clusterIPs.flatMap((address, index) => validateClusterIp(address, index, clusterIPs));
  const errors = [
    ...validatePair(spec),
    ...validateFamilies(spec),
    ...addressErrors,
    ...(clusterIPs.length > 2
      ? [invalidValue('spec.clusterIPs', clusterIPs, 'may only hold up to 2 values')]
      : []),
  ];
  if (addressErrors.length > 0) return errors;
  return [...errors, ...validateStack(spec), ...(isHeadless(spec) ? [] : validateAddressFamilies(spec))];
}

function validateNoAddresses({
  clusterIPs = [],
  ipFamilies = [],
  ipFamilyPolicy,
}: ServiceSpec): FieldError[] {
  const detail = 'may not be set for ExternalName services';
  return [
    ...(clusterIPs.length > 0 ? [forbidden('spec.clusterIPs', detail)] : []),
    ...(ipFamilies.length > 0 ? [forbidden('spec.ipFamilies', detail)] : []),
    ...(ipFamilyPolicy === undefined ? [] : [forbidden('spec.ipFamilyPolicy', detail)]),
  ];
}

function validatePair({ clusterIP, clusterIPs = [] }: ServiceSpec): FieldError[] {
  const field = 'spec.clusterIPs';
  if (!clusterIP)
    return clusterIPs.length === 0
      ? []
      : [invalidValue(field, clusterIPs, 'must be empty when `clusterIP` is not specified')];
  if (clusterIPs.length === 0) return [required(field)];
  return clusterIPs[0] === clusterIP
    ? []
    : [invalidValue(field, clusterIPs, 'first value must match `clusterIP`')];
}

function validateFamilies({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  const errors = ipFamilies.flatMap((family, index) => {
    const field = `spec.ipFamilies[${index}]`;
    return [
      ...(FAMILIES.includes(family) ? [] : [notSupported(field, family, FAMILIES)]),
      ...(ipFamilies.indexOf(family) < index ? [duplicate(field, family)] : []),
    ];
  });
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy))
    errors.push(notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, POLICIES));
  return errors;
}

function validateClusterIp(address: string, index: number, all: readonly string[]): FieldError[] {
  if (index > 0 || address !== HEADLESS) return validateIp(address, `spec.clusterIPs[${index}]`);
  return all.length === 1
    ? []
    : [invalidValue('spec.clusterIPs', all, "'None' must be the first and only value")];
}

/** A Service may ask for two addresses, one of each family, but these hosts have IPv4 addresses alone. */
function validateStack(spec: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, selector = {} } = spec;
  const field = 'spec.ipFamilyPolicy';
  const isSingle = ipFamilyPolicy === 'SingleStack';
  const isFree = isHeadless(spec) && Object.keys(selector).length === 0;
  const sameFamily = new Set(clusterIPs.map(isIPv6)).size === 1;
  return [
    ...(clusterIPs.length > 1 && sameFamily
      ? [invalidValue('spec.clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family')]
      : []),
    ...(isSingle && clusterIPs.length === 2
      ? [invalidValue(field, ipFamilyPolicy, `${MULTIPLE} cluster IPs are specified`)]
      : []),
    ...(isSingle && ipFamilies.length === 2
      ? [invalidValue(field, ipFamilyPolicy, `${MULTIPLE} IP families are specified`)]
      : []),
    ...(!isFree && ipFamilyPolicy === 'RequireDualStack'
      ? [invalidValue(field, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...(isFree ? [] : validateIpv4Families(ipFamilies)),
  ];
}

function validateIpv4Families(ipFamilies: readonly string[]): FieldError[] {
  return ipFamilies.flatMap((family, index) =>
    family === 'IPv6'
      ? [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')]
      : [],
  );
}

function validateAddressFamilies({ clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  return clusterIPs.flatMap((address, index) => {
    const field = `spec.clusterIPs[${index}]`;
    const family = ipFamilies[index];
    if (family === undefined)
      return isIPv6(address)
        ? [invalidValue(field, clusterIPs, 'IPv6 is not configured on this cluster')]
        : [];
    if ((family === 'IPv6') === isIPv6(address)) return [];
    return [
      invalidValue(field, address, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``),
    ];
  });
}

/** Node ports lead to the address, so upstream refuses them for headless Services. */
export function validateHeadlessType(spec: ServiceSpec): FieldError[] {
  if (!needsNodePort(spec) || !isHeadless(spec)) return [];
  return [invalidValue('spec.clusterIPs[0]', HEADLESS, `may not be set to 'None' for ${spec.type} services`)];
}

/** An address never changes, unless the Service was or becomes an ExternalName (validateUpgradeDowngradeClusterIPs). */
export function validateAddressUpdate(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (!needsClusterIP(spec) || !needsClusterIP(old)) return [];
  // A Service that was stored while addresses were off may be headless with a node port.
  const wasStored = validateHeadlessType(old).length > 0;
  return [
    ...(wasStored ? [] : validateHeadlessType(spec)),
    ...validateKeptAddress(spec, old),
    ...validateKeptFamily(spec, old),
  ];
}

function validateKeptAddress(
  { clusterIPs = [], ipFamilyPolicy }: ServiceSpec,
  old: ServiceSpec,
): FieldError[] {
  const field = 'spec.clusterIPs[0]';
  const [oldPrimary, ...oldOthers] = old.clusterIPs ?? [];
  if (oldPrimary === undefined) return [];
  if (clusterIPs.length === 0) return [invalidValue(field, clusterIPs, 'primary clusterIP can not be unset')];
  const errors = clusterIPs[0] === oldPrimary ? [] : [invalidValue(field, clusterIPs, SET_ONCE)];
  const isReleased = oldOthers.length > 0 && clusterIPs.length === 1;
  if (isReleased && ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    errors.push(invalidValue('spec.ipFamilyPolicy', ipFamilyPolicy, detail));
  }
  return errors;
}

function validateKeptFamily(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (isHeadless(spec) || isHeadless(old)) return [];
  const [oldPrimary] = old.ipFamilies ?? [];
  const [primary] = spec.ipFamilies ?? [];
  if (oldPrimary === undefined || primary === oldPrimary) return [];
  return [invalidValue('spec.ipFamilies[0]', spec.ipFamilies, SET_ONCE)];
}
