/** Translates a Pod and its resolved volumes into an engine configuration (pkg/kubelet generateRunContainerOptions). */
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  type ContainerConfig,
  type ContainerIdentity,
  type Mount,
  type PortBinding,
  SANDBOX,
} from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';
import { fullImageName } from '../images/image-name.js';
import { allContainersOf, containerRole } from '../pods/pod-containers.js';
import { needsSandbox } from '../pods/sandbox-need.js';
import { dottedSysctl } from './allowed-sysctls.js';
import { type EnvironmentFacts, environmentOf, expandVariables } from './container-environment.js';
import {
  BACKOFF_LABEL,
  BOOT_LABEL,
  CONTAINER_ROLE_LABEL,
  CONTROLLER_UID_LABEL,
  GRACE_LABEL,
  SANDBOX_LABEL,
  TARGET_LABEL,
} from './container-labels.js';
import { engineLimits, sandboxLimits } from './container-limits.js';
import { hostnameRefusal, namespacesOf } from './container-namespaces.js';
import { engineSecurity, refusedAsRoot } from './container-security.js';
import type { ResolverSources } from './dns-resolver.js';

/** Inputs besides the Pod's spec. */
export interface ConfigContext extends EnvironmentFacts {
  attempt: number;
  backoffMs: number;
  bootMark: string;
  /** Mounts of this container, in order; from `HostVolumes.mountsOf`. */
  mounts: Mount[];
  /** The container whose namespaces this one joins: the sandbox, or the owner of the Pod's namespaces. */
  sandboxID?: string;
  /** The container whose processes an ephemeral container shows. */
  targetID?: string;
  isolation: HostIsolation;
  resolvers: ResolverSources;
  /** User set by the image; "": root. */
  imageUser: string;
  /** The engine's own name of the image; absent: its full name. */
  engineImage?: string;
}

/** A configuration, or the message for `CreateContainerConfigError`. */
type ConfigResult = { kind: 'config'; config: ContainerConfig } | { kind: 'refused'; message: string };

/** Returns the engine configuration for one attempt of one container. */
export function containerConfig(pod: Pod, container: Container, context: ConfigContext): ConfigResult {
  const environment = environmentOf(pod, container, context);
  if (environment.kind === 'refused') return environment;
  const refused = hostnameRefusal(pod) ?? refusedAsRoot(pod, container, context.imageUser);
  if (refused) return { kind: 'refused', message: refused };
  const expand = (texts: readonly string[]): string[] =>
    texts.map((text) => expandVariables(text, environment.values));
  const config: ContainerConfig = {
    ...namespacesOf(pod, context.sandboxID, context.resolvers, context.targetID),
    ...(needsSandbox(pod) || context.sandboxID !== undefined ? {} : sysctlsOf(pod)),
    ...engineLimits(pod, container, context.isolation),
    identity: identityOf(pod, container.name, context.attempt),
    image: fullImageName(container.image),
    ...(context.engineImage ? { engineImage: context.engineImage } : {}),
    ...(container.command ? { command: expand(container.command) } : {}),
    ...(container.args ? { args: expand(container.args) } : {}),
    ...(container.workingDir ? { workingDir: container.workingDir } : {}),
    env: [...environment.values].map(([name, value]) => `${name}=${value}`),
    labels: labelsOf(pod, container, context),
    mounts: context.mounts,
    // With a sandbox, the sandbox publishes the ports.
    ports: needsSandbox(pod) || pod.spec.hostNetwork ? [] : portsOf([container]),
    ...engineSecurity(pod, container, context.isolation, context.imageUser),
    tty: container.tty ?? false,
    stdin: container.stdin ?? false,
    ...(container.stdinOnce ? { stdinOnce: true } : {}),
    ...(runsToCompletion(pod, container.name) ? { runsToCompletion: true } : {}),
  };
  return { kind: 'config', config };
}

/** Sidecars and ephemeral containers run as long as their Pod. */
function runsToCompletion(pod: Pod, name: string): boolean {
  const { restartPolicy = 'Always' } = pod.spec;
  return restartPolicy !== 'Always' && containerRole(pod, name) === 'main';
}

/**
 * Returns the configuration of the container that holds the shared namespaces. `image`: the engine's name of the
 * sandbox image.
 */
export function sandboxConfig(
  pod: Pod,
  image: string,
  context: Pick<ConfigContext, 'attempt' | 'backoffMs' | 'bootMark' | 'isolation' | 'resolvers'>,
): ContainerConfig {
  return {
    ...namespacesOf(pod, undefined, context.resolvers),
    identity: identityOf(pod, SANDBOX, context.attempt),
    image,
    env: [],
    labels: {
      ...podLabels(pod),
      [BACKOFF_LABEL]: String(context.backoffMs),
      [BOOT_LABEL]: context.bootMark,
    },
    mounts: [],
    ports: pod.spec.hostNetwork ? [] : portsOf(allContainersOf(pod)),
    ...sysctlsOf(pod),
    ...sandboxLimits(context.isolation),
    privileged: false,
    readOnlyRootFilesystem: true,
    capabilitiesAdd: [],
    capabilitiesDrop: [],
    noNewPrivileges: true,
    tty: false,
    stdin: false,
  };
}

function identityOf(pod: Pod, container: string, attempt: number): ContainerIdentity {
  const { uid = '', namespace = '', name } = pod.metadata;
  return { podUid: uid, podNamespace: namespace, podName: name, container, attempt };
}

function podLabels(pod: Pod): Record<string, string> {
  const maker = controllerOf(pod.metadata)?.uid;
  return {
    'io.kubernetes.pod.name': pod.metadata.name,
    'io.kubernetes.pod.namespace': pod.metadata.namespace ?? '',
    'io.kubernetes.pod.uid': pod.metadata.uid ?? '',
    [GRACE_LABEL]: String(pod.spec.terminationGracePeriodSeconds ?? 30),
    ...(maker ? { [CONTROLLER_UID_LABEL]: maker } : {}),
  };
}

function labelsOf(pod: Pod, container: Container, context: ConfigContext): Record<string, string> {
  return {
    ...podLabels(pod),
    'io.kubernetes.container.name': container.name,
    [CONTAINER_ROLE_LABEL]: containerRole(pod, container.name),
    [BACKOFF_LABEL]: String(context.backoffMs),
    [BOOT_LABEL]: context.bootMark,
    ...(context.sandboxID ? { [SANDBOX_LABEL]: context.sandboxID } : {}),
    ...(context.targetID ? { [TARGET_LABEL]: context.targetID } : {}),
  };
}

function portsOf(containers: readonly Container[]): PortBinding[] {
  return containers.flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => (port.hostPort ?? 0) > 0)
      .map((port) => ({
        containerPort: port.containerPort,
        hostPort: port.hostPort ?? 0,
        ...(port.hostIP ? { hostIP: port.hostIP } : {}),
        protocol: protocolOf(port.protocol),
      })),
  );
}

/** Only for the holder of the Pod's namespaces; engines refuse sysctls on containers that join them. */
function sysctlsOf(pod: Pod): Pick<ContainerConfig, 'sysctls'> {
  const sysctls = pod.spec.securityContext?.sysctls ?? [];
  if (sysctls.length === 0) return {};
  return { sysctls: Object.fromEntries(sysctls.map(({ name, value }) => [dottedSysctl(name), value])) };
}

function protocolOf(protocol: string | undefined): PortBinding['protocol'] {
  switch (protocol) {
    case 'UDP':
      return 'udp';
    case 'SCTP':
      return 'sctp';
    default:
      return 'tcp';
  }
}
