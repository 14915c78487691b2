/** Where a probe or a hook is to be sent. */
import type { IntOrString } from '../../shared/kube/objects/meta.js';
import type { Container } from '../../shared/kube/pods/pod-types.js';

/** A running container as probes and hooks reach it. */
export interface ProbeTarget {
  /** The engine's id. */
  id: string;
  container: Container;
  /** The Pod's address: the host's own on the host's network. Empty while unknown. */
  podIP: string;
}

/**
 * The port's number, looked up by name among the container's own (pkg/probe/util.go ResolveContainerPort). Throws an
 * Error in upstream's words.
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

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A connection that failed, as Go words it: `dial tcp 10.0.0.1:80: connect: connection refused`. */
export function dialErrorMessage(error: unknown, where: string): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const words = DIAL_WORDS[code];
  return words ? `dial tcp ${where}: ${words}` : message;
}

const DIAL_WORDS: Record<string, string> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};
