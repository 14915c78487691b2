/** Addresses of probes and hooks. */
import type { IntOrString } from '../../shared/kube/objects/meta.js';
import type { Container } from '../../shared/kube/pods/pod-types.js';

/** A running container, as the target of probes and hooks. */
export interface ProbeTarget {
  /** The engine's id. */
  id: string;
  container: Container;
  /** The Pod's address, or the host's for a Pod with `hostNetwork`. Empty while unknown. */
  podIP: string;
}

/**
 * Returns the port's number. Looks up a name among the container's ports (pkg/probe/util.go ResolveContainerPort).
 * Throws an Error with upstream's message.
 */
export function portNumber(port: IntOrString, { container }: ProbeTarget): number {
  if (typeof port === 'number') return valid(port);
  const named = container.ports?.find(({ name }) => name === port);
  if (named) return named.containerPort;
  if (/^\d+$/.test(port)) return valid(Number(port));
  throw new Error(`port ${port} not found`);
}

function valid(port: number): number {
  if (port > 0 && port < 65_536) return port;
  throw new Error(`invalid port number: ${port}`);
}

/** Returns `10.0.0.1:80` or `[fd00::1]:80`. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Formats a failed connection like Go: `dial tcp 10.0.0.1:80: connect: connection refused`. */
export function dialErrorMessage(error: unknown, where: string): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const text = DIAL_ERRORS[code];
  return text ? `dial tcp ${where}: ${text}` : message;
}

const DIAL_ERRORS: Record<string, string> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};
