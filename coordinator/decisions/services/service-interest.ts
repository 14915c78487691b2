/** Names that a host may ask for, and the size of what it receives. */
import type { ServiceRules } from './slice-endpoints.js';

/** A DNS label, as names of namespaces and Services are (apimachinery IsDNS1123Label). */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Longest name of a node. */
const MAX_HOSTNAME = 253;

/**
 * True for `namespace/name` of a Service that may exist, or `namespace/name/hostname` of one of its endpoints. Other
 * names are not stored.
 */
export function isServiceKey(text: string): boolean {
  const [namespace = '', name = '', hostname, ...rest] = text.split('/');
  const isHostname =
    hostname === undefined ||
    (hostname.length <= MAX_HOSTNAME && hostname.split('.').every((label) => LABEL.test(label)));
  return LABEL.test(namespace) && LABEL.test(name) && isHostname && rest.length === 0;
}

const PORT_BYTES = 100;
const ENDPOINT_BYTES = 150;
const ENDPOINT_PORT_BYTES = 3;

/** Estimates the encoded bytes of this many endpoints of a Service, and of its ports. */
export function viewWeight(rules: Pick<ServiceRules, 'ports'> | undefined, endpoints: number): number {
  const ports = rules?.ports.length ?? 0;
  return ports * PORT_BYTES + endpoints * (ENDPOINT_BYTES + ports * ENDPOINT_PORT_BYTES);
}
