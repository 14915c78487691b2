/** Validation of Services (`pkg/apis/core/validation/validation.go`, ValidateService and ValidateServiceUpdate). */
import { isIP } from 'node:net';
import { RELAY_ANNOTATION, WITHIN_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import {
  needsClusterIP,
  needsHealthCheckNodePort,
  type Service,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import type { FieldError } from '../kind.js';
import { validateCidr, validateIp, validateNonSpecialIp } from '../validation/address-rules.js';
import {
  FIELD_IMMUTABLE,
  forbidden,
  invalidValue,
  notSupported,
  required,
} from '../validation/field-error.js';
import { dnsSubdomainProblems, portNumberProblems, qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor, validateLabels } from '../validation/object-meta-validation.js';
import { validateAddresses, validateAddressUpdate } from './service-address-validation.js';
import { isExternallyAccessible } from './service-defaults.js';
import { validateServicePorts } from './service-port-validation.js';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const AFFINITIES = ['ClientIP', 'None'];
const POLICIES = ['Cluster', 'Local'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];
const IP_MODES = ['Proxy', 'VIP'];
const MAX_AFFINITY_SECONDS = 86_400;
const BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'";
const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const HINTS_ANNOTATION = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_ANNOTATION = 'service.kubernetes.io/topology-mode';

export function validateService({ metadata, spec = {} }: Service): FieldError[] {
  const { annotations = {} } = metadata;
  return [
    ...validateAnnotationValues(annotations),
    ...validateServicePorts(spec),
    ...validateExternalName(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateAddresses(spec),
    ...(spec.externalIPs ?? []).flatMap((address, index) =>
      validateExternalIp(address, `spec.externalIPs[${index}]`),
    ),
    ...(TYPES.includes(spec.type ?? '') ? [] : [notSupported('spec.type', spec.type, TYPES)]),
    ...validateSourceRanges(spec, annotations),
    ...validateBalancerFields(spec),
    ...validateExternalTraffic(spec),
    ...validateOneOf(spec, 'internalTrafficPolicy', POLICIES),
    ...validateOneOf(spec, 'trafficDistribution', DISTRIBUTIONS),
  ];
}

function validateAnnotationValues(annotations: Record<string, string>): FieldError[] {
  const field = (key: string) => `metadata.annotations[${key}]`;
  const hints = annotations[HINTS_ANNOTATION];
  const mode = annotations[TOPOLOGY_ANNOTATION];
  const relay = annotations[RELAY_ANNOTATION];
  const within = annotations[WITHIN_ANNOTATION];
  return [
    ...(hints !== undefined && mode !== undefined && hints !== mode
      ? [
          invalidValue(
            field(TOPOLOGY_ANNOTATION),
            mode,
            `must match annotations[${HINTS_ANNOTATION}] when both are specified`,
          ),
        ]
      : []),
    ...(relay === undefined || ['true', 'false'].includes(relay)
      ? []
      : [notSupported(field(RELAY_ANNOTATION), relay, ['false', 'true'])]),
    ...(within === undefined || within === 'zone'
      ? []
      : [notSupported(field(WITHIN_ANNOTATION), within, ['zone'])]),
  ];
}

/** The name may end with a dot, which marks it as complete. */
function validateExternalName(spec: ServiceSpec): FieldError[] {
  if (needsClusterIP(spec)) return [];
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  const field = 'spec.externalName';
  return name === '' ? [required(field)] : invalidFor(field, name, dnsSubdomainProblems(name));
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const field = 'spec.sessionAffinityConfig';
  if (!sessionAffinity) return [required('spec.sessionAffinity')];
  if (!AFFINITIES.includes(sessionAffinity))
    return [notSupported('spec.sessionAffinity', sessionAffinity, AFFINITIES)];
  if (sessionAffinity === 'None')
    return sessionAffinityConfig ? [forbidden(field, 'must not be set when session affinity is None')] : [];
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds === undefined) return [required(field, 'when session affinity type is ClientIP')];
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  const detail = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`;
  return [invalidValue(`${field}.clientIP.timeoutSeconds`, seconds, detail)];
}

function validateExternalIp(address: string, field: string): FieldError[] {
  const errors = validateIp(address, field);
  return errors.length > 0 ? errors : validateNonSpecialIp(address, field);
}

/** Upstream names the field with a capital letter. */
function validateSourceRanges(spec: ServiceSpec, annotations: Record<string, string>): FieldError[] {
  const { type, loadBalancerSourceRanges = [] } = spec;
  const text = annotations[SOURCE_RANGES_ANNOTATION]?.trim();
  const isField = loadBalancerSourceRanges.length > 0;
  if (!isField && text === undefined) return [];
  const path = isField
    ? 'spec.LoadBalancerSourceRanges'
    : `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`;
  const ranges = isField ? loadBalancerSourceRanges : text ? text.split(',') : [];
  return [
    ...(type === 'LoadBalancer' ? [] : [forbidden(path, BALANCER_ONLY)]),
    ...ranges.flatMap((range, index) => validateCidr(range.trim(), isField ? `${path}[${index}]` : path)),
  ];
}

function validateBalancerFields({
  type,
  allocateLoadBalancerNodePorts,
  loadBalancerClass,
}: ServiceSpec): FieldError[] {
  const field = 'spec.loadBalancerClass';
  if (type === 'LoadBalancer')
    return loadBalancerClass === undefined
      ? []
      : invalidFor(field, loadBalancerClass, qualifiedNameProblems(loadBalancerClass));
  return [
    ...(allocateLoadBalancerNodePorts === undefined
      ? []
      : [forbidden('spec.allocateLoadBalancerNodePorts', BALANCER_ONLY)]),
    ...(loadBalancerClass === undefined ? [] : [forbidden(field, BALANCER_ONLY)]),
  ];
}

/** A missing health check port is no error: the registry allocates one afterwards. */
function validateExternalTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy, healthCheckNodePort } = spec;
  const field = 'spec.externalTrafficPolicy';
  const errors: FieldError[] = [];
  if (isExternallyAccessible(spec)) {
    if (!externalTrafficPolicy) errors.push(required(field));
    else errors.push(...validateOneOf(spec, 'externalTrafficPolicy', POLICIES));
  } else if (externalTrafficPolicy) {
    errors.push(
      invalidValue(field, externalTrafficPolicy, 'may only be set for externally-accessible services'),
    );
  }
  if (!healthCheckNodePort) return errors;
  const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  const problems = needsHealthCheckNodePort(spec) ? portNumberProblems(healthCheckNodePort) : [detail];
  return [...errors, ...invalidFor('spec.healthCheckNodePort', healthCheckNodePort, problems)];
}

/** An absent value is valid. */
function validateOneOf(
  spec: ServiceSpec,
  key: 'externalTrafficPolicy' | 'internalTrafficPolicy' | 'trafficDistribution',
  supported: readonly string[],
): FieldError[] {
  const value = spec[key];
  return value === undefined || supported.includes(value)
    ? []
    : [notSupported(`spec.${key}`, value, supported)];
}

export function validateServiceUpdate({ spec = {} }: Service, current: Service): FieldError[] {
  const old = current.spec ?? {};
  const errors = validateAddressUpdate(spec, old);
  const { healthCheckNodePort, loadBalancerClass } = spec;
  if (
    spec.type === 'LoadBalancer' &&
    old.type === 'LoadBalancer' &&
    loadBalancerClass !== old.loadBalancerClass
  )
    errors.push(invalidValue('spec.loadBalancerClass', loadBalancerClass, 'may not change once set'));
  const hadCheck = needsHealthCheckNodePort(old) && old.healthCheckNodePort;
  if (hadCheck && needsHealthCheckNodePort(spec) && healthCheckNodePort !== old.healthCheckNodePort)
    errors.push(forbidden('spec.healthCheckNodePort', FIELD_IMMUTABLE));
  return errors;
}

/** ValidateLoadBalancerStatus. */
export function validateServiceStatus({ spec = {}, status = {} }: Service): FieldError[] {
  const field = 'status.loadBalancer.ingress';
  const { ingress = [] } = status.loadBalancer ?? {};
  if (ingress.length > 0 && spec.type !== 'LoadBalancer')
    return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap(({ ip, ipMode, hostname }, index) => {
    const path = `${field}[${index}]`;
    return [
      ...(ip ? validateIp(ip, `${path}.ip`) : []),
      ...(ipMode !== undefined && !ip
        ? [forbidden(`${path}.ipMode`, 'may not be specified when `ip` is not set')]
        : []),
      ...(ipMode !== undefined && ip && !IP_MODES.includes(ipMode)
        ? [notSupported(`${path}.ipMode`, ipMode, IP_MODES)]
        : []),
      ...(hostname ? validateIngressHost(hostname, `${path}.hostname`) : []),
    ];
  });
}

function validateIngressHost(hostname: string, field: string): FieldError[] {
  const errors = invalidFor(field, hostname, dnsSubdomainProblems(hostname));
  return isIP(hostname)
    ? [...errors, invalidValue(field, hostname, 'must be a DNS name, not an IP address')]
    : errors;
}
