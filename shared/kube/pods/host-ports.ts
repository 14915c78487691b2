/** Host ports of Pods. */
import type { PodSpec } from './pod-types.js';

/** `0.0.0.0` means all addresses. */
export interface HostPort {
  protocol: string;
  ip: string;
  port: number;
}

/** Returns the host ports of all containers, sidecars included. */
export function hostPorts(spec: PodSpec): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => port.hostPort)
      .map((port) => ({
        protocol: port.protocol || 'TCP',
        ip: port.hostIP || '0.0.0.0',
        port: port.hostPort ?? 0,
      })),
  );
}

/** Returns true if the two ports cannot both be bound (pkg/scheduler/framework HostPortInfo.CheckConflict). */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0';
}
