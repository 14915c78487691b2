/** Labels that the agent keeps on containers beside the driver's identity: its memory across its own restarts. */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';

/** The restart delay set when this attempt was created, in ms. */
export const BACKOFF_LABEL = 'everynode.dev/restart-backoff-ms';
/** Mark of the host's boot in which it was created. */
export const BOOT_LABEL = 'everynode.dev/boot';
/** Id of the sandbox it joined. */
export const SANDBOX_LABEL = 'everynode.dev/sandbox';
/** The part that the container plays: `init`, `sidecar` or `main`. */
export const CONTAINER_ROLE_LABEL = 'everynode.dev/container-role';
/** Uid of the controller that made the Pod, for when the Pod is no longer known. */
export const CONTROLLER_UID_LABEL = 'everynode.dev/controller-uid';
/** Grace in seconds, for when the Pod is no longer known. */
export const GRACE_LABEL = 'everynode.dev/grace-seconds';

/** The delay this attempt was created with; 0 when unknown. */
export function backoffOf(container: ObservedContainer): number {
  const value = Number(container.labels[BACKOFF_LABEL]);
  return Number.isFinite(value) ? value : 0;
}
