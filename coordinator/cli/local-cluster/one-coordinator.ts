/** A single coordinator in the foreground. */
import { createLogger } from '../../../shared/process/output/logger.js';
import type { RunningComponents } from '../../../shared/process/service/program-lifecycle.js';
import { kubeconfigPath } from '../../coordinator-data-dir.js';
import type { CoordinatorSettings } from '../../coordinator-settings.js';
import { apiClientFromKubeconfig } from '../client/api-client.js';
import type { Progress } from '../terminal/terminal-progress.js';
import type { ForegroundCoordinators } from './local-cluster.js';

/** Runs a single coordinator in this process. */
export function oneCoordinator(settings: CoordinatorSettings, progress: Progress): ForegroundCoordinators {
  const log = createLogger(settings.logLevel);
  let starting: Promise<RunningComponents> | undefined;
  const servers: string[] = [];
  return {
    servers,
    start: async () => {
      starting = progress.step('starting the coordinator', async () => {
        // Imported here, because it would slow down the start of all other commands.
        const { startCoordinator } = await import('../../main.js');
        return startCoordinator(settings, log);
      });
      await starting;
      const api = apiClientFromKubeconfig(kubeconfigPath(settings.data));
      servers.push(api.server);
      return api;
    },
    stop: async () => (await starting?.catch(() => undefined))?.stop(),
  };
}
