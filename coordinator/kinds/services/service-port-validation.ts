/** Validation of a Service's ports (validateServicePort and the loops of ValidateService). */
import {
  isHeadless,
  needsClusterIP,
  type ServicePort,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import type { FieldError } from '../kind.js';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../validation/field-error.js';
import {
  dnsLabelProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
/** The port of a kubelet. Some load balancers open more of a host than they should. */
const KUBELET_PORT = 10_250;

export function validateServicePorts(spec: ServiceSpec): FieldError[] {
  const { ports = [] } = spec;
  const isMissing = ports.length === 0 && !isHeadless(spec) && needsClusterIP(spec);
  return [
    ...(isMissing ? [required('spec.ports')] : []),
    ...ports.flatMap((port, index) => [
      ...validatePort(port, index, ports),
      ...validateForType(port, `spec.ports[${index}]`, spec.type),
      ...validateUnique(port, index, ports),
    ]),
  ];
}

function validatePort(port: ServicePort, index: number, all: readonly ServicePort[]): FieldError[] {
  const path = `spec.ports[${index}]`;
  const { protocol, appProtocol, targetPort = port.port } = port;
  return [
    ...validatePortName(port.name, index, all),
    ...invalidFor(`${path}.port`, port.port ?? 0, portNumberProblems(port.port ?? 0)),
    ...validateProtocol(protocol, `${path}.protocol`),
    ...invalidFor(
      `${path}.targetPort`,
      targetPort,
      typeof targetPort === 'number' ? portNumberProblems(targetPort) : portNameProblems(targetPort),
    ),
    ...(appProtocol === undefined
      ? []
      : invalidFor(`${path}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol))),
  ];
}

function validatePortName(
  name: string | undefined,
  index: number,
  all: readonly ServicePort[],
): FieldError[] {
  const field = `spec.ports[${index}].name`;
  if (!name) return all.length > 1 ? [required(field)] : [];
  const isTaken = all.slice(0, index).some((other) => other.name === name);
  return [...invalidFor(field, name, dnsLabelProblems(name)), ...(isTaken ? [duplicate(field, name)] : [])];
}

export function validateProtocol(protocol: string | undefined, field: string): FieldError[] {
  if (!protocol) return [required(field)];
  return PROTOCOLS.includes(protocol) ? [] : [notSupported(field, protocol, PROTOCOLS)];
}

function validateForType(
  { port, nodePort }: ServicePort,
  path: string,
  type: string | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (type === 'LoadBalancer' && port === KUBELET_PORT)
    errors.push(
      invalidValue(path, port, `may not expose port ${port} externally since it is used by kubelet`),
    );
  if (type === 'ClusterIP' && nodePort)
    errors.push(forbidden(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
  return errors;
}

/** Two ports of a protocol must not have the same number or the same node port. */
function validateUnique(
  { port, nodePort, protocol }: ServicePort,
  index: number,
  all: readonly ServicePort[],
): FieldError[] {
  const earlier = all.slice(0, index).filter((other) => other.protocol === protocol);
  const path = `spec.ports[${index}]`;
  const errors: FieldError[] = [];
  if (nodePort && earlier.some((other) => other.nodePort === nodePort))
    errors.push(duplicate(`${path}.nodePort`, nodePort));
  if (earlier.some((other) => other.port === port)) errors.push(duplicate(path, { protocol, port }));
  return errors;
}
