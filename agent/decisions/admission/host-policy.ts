/** What the owner of a host lets no Pod do there, whoever asks for it: the coordinator's word does not count against it. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { type AllowedPath, hostPathRefusal, readAllowedPaths } from './host-path-policy.js';

/** Absent = not restricted. */
export interface HostPolicy {
  /** False: no privileged containers. */
  privileged?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  /** Paths that may be mounted from the host. */
  hostPaths?: readonly AllowedPath[];
  /** Capabilities that a container may be given beyond the engine's own, such as `NET_ADMIN`. */
  capabilities?: readonly string[];
}

/** Why the Pod may not run here, in a few words; undefined when it may. */
export function policyRefusal(pod: Pod, policy: HostPolicy): string | undefined {
  const { spec } = pod;
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[field] && policy[field] === false) return `${field} is not allowed`;
  }
  const path = policy.hostPaths && hostPathRefusal(pod, policy.hostPaths);
  if (path) return path;
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...(spec.ephemeralContainers ?? []),
  ];
  for (const container of containers) {
    const why = containerRefusal(container, policy);
    if (why) return `container "${container.name}": ${why}`;
  }
  return undefined;
}

function containerRefusal({ securityContext }: Container, policy: HostPolicy): string | undefined {
  if (securityContext?.privileged && policy.privileged === false) return 'privileged is not allowed';
  const { capabilities } = policy;
  if (!capabilities) return undefined;
  // A privileged container has them all.
  if (securityContext?.privileged) return 'privileged gives capabilities that are not allowed';
  const refused = securityContext?.capabilities?.add?.find((name) => !capabilities.includes(plainName(name)));
  return refused === undefined ? undefined : `the capability ${refused} is not allowed`;
}

/** `CAP_NET_ADMIN` and `net_admin` are `NET_ADMIN`. */
function plainName(name: string): string {
  return name.toUpperCase().replace(/^CAP_/, '');
}

const SWITCHES = ['privileged', 'hostNetwork', 'hostPID', 'hostIPC'] as const;

/**
 * The policy that a document (decoded YAML) says. Throws an Error that says what is wrong: a policy that is misread would
 * protect nobody.
 */
export function parseHostPolicy(document: unknown): HostPolicy {
  if (document === null || document === undefined) return {};
  if (typeof document !== 'object' || Array.isArray(document)) throw new Error('it is not a map');
  const policy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(document)) {
    if (SWITCHES.some((name) => name === key)) policy[key] = readSwitch(key, value);
    else if (key === 'hostPaths') policy[key] = readAllowedPaths(value);
    else if (key === 'capabilities') policy[key] = readTexts(key, value).map(plainName);
    else throw new Error(`it says ${JSON.stringify(key)}, which means nothing`);
  }
  return policy;
}

function readSwitch(key: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new Error(`${key} must be true or false`);
}

function readTexts(key: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new Error(`${key} must be a list of texts`);
}
