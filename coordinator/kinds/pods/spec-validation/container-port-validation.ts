/** Validation of container ports. */
import type { Container, ContainerPort, PodSpec } from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import { duplicate, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { portNameProblems, portNumberProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function validatePortName(name: string, earlier: ReadonlySet<string>, field: string): FieldError[] {
  const problems = portNameProblems(name);
  if (problems.length > 0) return invalidFor(field, name, problems);
  return earlier.has(name) ? [duplicate(field, name)] : [];
}

function validateContainerPort(port: number | undefined, field: string): FieldError[] {
  if (!port) return [required(field)];
  return invalidFor(field, port, portNumberProblems(port));
}

function validateProtocol(protocol: string | undefined, field: string): FieldError[] {
  if (!protocol) return [required(field)];
  return PROTOCOLS.includes(protocol) ? [] : [notSupported(field, protocol, PROTOCOLS)];
}

export function validatePorts(ports: readonly ContainerPort[] | undefined, field: string): FieldError[] {
  const names = new Set<string>();
  return (ports ?? []).flatMap((port, index) => {
    const path = `${field}[${index}]`;
    const nameErrors = port.name ? validatePortName(port.name, names, `${path}.name`) : [];
    if (port.name) names.add(port.name);
    return [
      ...nameErrors,
      ...validateContainerPort(port.containerPort, `${path}.containerPort`),
      ...(port.hostPort
        ? invalidFor(`${path}.hostPort`, port.hostPort, portNumberProblems(port.hostPort))
        : []),
      ...validateProtocol(port.protocol, `${path}.protocol`),
    ];
  });
}

/** No two ports may claim the same protocol, address and port of the host. */
export function validateHostPortsUnique(containers: readonly Container[], field: string): FieldError[] {
  const claimed = new Set<string>();
  return containers.flatMap((container, containerIndex) =>
    (container.ports ?? []).flatMap((port, portIndex) => {
      if (!port.hostPort) return [];
      const claim = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`;
      const path = `${field}[${containerIndex}].ports[${portIndex}].hostPort`;
      if (claimed.has(claim)) return [duplicate(path, claim)];
      claimed.add(claim);
      return [];
    }),
  );
}

/** With the host's network, a host port must equal the container port. */
export function validateHostNetworkPorts(spec: PodSpec, field: string): FieldError[] {
  if (!spec.hostNetwork) return [];
  const detail = 'must match `containerPort` when `hostNetwork` is true';
  return spec.containers.flatMap((container, containerIndex) =>
    (container.ports ?? []).flatMap((port, portIndex) => {
      if (!port.hostPort || port.hostPort === port.containerPort) return [];
      const path = `${field}.containers[${containerIndex}].ports[${portIndex}].hostPort`;
      return [invalidValue(path, port.hostPort, detail)];
    }),
  );
}
