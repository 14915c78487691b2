/** The agent's labels on containers, besides the driver's identity labels. They survive restarts of the agent. */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';

/** Restart delay when this attempt was created, ms. */
export const BACKOFF_LABEL = 'everynode.dev/restart-backoff-ms';
/** Boot of the host in which the container was created. */
export const BOOT_LABEL = 'everynode.dev/boot';
/** Id of the container whose namespaces this one joined: the sandbox, or the owner of the Pod's namespaces. */
export const SANDBOX_LABEL = 'everynode.dev/sandbox';
/** Id of the container that shares its processes with an ephemeral container. */
export const TARGET_LABEL = 'everynode.dev/target';
/** Role of the container: `init`, `sidecar`, `main` or `ephemeral`. */
export const CONTAINER_ROLE_LABEL = 'everynode.dev/container-role';
/** Uid of the Pod's controller, for containers of unknown Pods. */
export const CONTROLLER_UID_LABEL = 'everynode.dev/controller-uid';
/** Grace period in seconds, for containers of unknown Pods. */
export const GRACE_LABEL = 'everynode.dev/grace-seconds';

/** Returns the restart delay of this attempt, ms; 0 if unknown. */
export function backoffOf(container: ObservedContainer): number {
  const value = Number(container.labels[BACKOFF_LABEL]);
  return Number.isFinite(value) ? value : 0;
}
