/** What lies where in a coordinator's data directory. */
import { join } from 'node:path';

/** The administrator's kubeconfig. */
export function kubeconfigPath(dataDir: string): string {
  return join(dataDir, 'kubeconfig');
}

/** Process id of the coordinator that holds the directory's lock; stale when none does. */
export function pidPath(dataDir: string): string {
  return join(dataDir, 'coordinator.pid');
}

/** The directory of the agent that `up` runs beside the coordinator. */
export function agentDataDir(dataDir: string): string {
  return join(dataDir, 'agent');
}
