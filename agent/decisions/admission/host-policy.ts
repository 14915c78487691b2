/** Restrictions of a host's owner for all Pods on the host. The coordinator cannot override them. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { type AllowedPath, hostPathRefusal, readAllowedPaths } from './host-path-policy.js';

/** An absent field does not restrict. */
export interface HostPolicy {
  /** False forbids privileged containers. */
  privileged?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  /** Host paths that Pods may mount. */
  hostPaths?: readonly AllowedPath[];
  /** Capabilities that containers may add to the engine's defaults, such as `NET_ADMIN`. */
  capabilities?: readonly string[];
}

/** Returns why the Pod may not run here; undefined if it may. Ephemeral containers are checked one by one. */
export function policyRefusal(pod: Pod, policy: HostPolicy): string | undefined {
  const { spec } = pod;
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[field] && policy[field] === false) return `${field} is not allowed`;
  }
  const path = policy.hostPaths && hostPathRefusal(pod, policy.hostPaths);
  if (path) return path;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const why = containerRefusal(container, policy);
    if (why) return `container "${container.name}": ${why}`;
  }
  return undefined;
}

function containerRefusal({ securityContext }: Container, policy: HostPolicy): string | undefined {
  if (securityContext?.privileged && policy.privileged === false) return 'privileged is not allowed';
  const { capabilities } = policy;
  if (!capabilities) return undefined;
  // A privileged container has every capability.
  if (securityContext?.privileged) return 'privileged gives capabilities that are not allowed';
  const refused = securityContext?.capabilities?.add?.find((name) => !capabilities.includes(plainName(name)));
  return refused === undefined ? undefined : `the capability ${refused} is not allowed`;
}

/** Returns `NET_ADMIN` for `CAP_NET_ADMIN` and `net_admin`. */
function plainName(name: string): string {
  return name.toUpperCase().replace(/^CAP_/, '');
}

const SWITCHES = ['privileged', 'hostNetwork', 'hostPID', 'hostIPC'] as const;

/**
 * Returns the policy of a document (decoded YAML). Throws an Error that names the mistake: a misread policy would not
 * protect the host.
 */
export function parseHostPolicy(document: unknown): HostPolicy {
  if (document === null || document === undefined) return {};
  if (typeof document !== 'object' || Array.isArray(document)) throw new Error('it is not a map');
  const policy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(document)) {
    if (SWITCHES.some((name) => name === key)) policy[key] = readSwitch(key, value);
    else if (key === 'hostPaths') policy[key] = readAllowedPaths(value);
    else if (key === 'capabilities') policy[key] = readTexts(key, value).map(plainName);
    else throw new Error(`${JSON.stringify(key)} is not a field`);
  }
  return policy;
}

function readSwitch(key: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new Error(`${key} must be true or false`);
}

function readTexts(key: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new Error(`${key} must be a list of strings`);
}
