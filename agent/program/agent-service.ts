/** Runs the agent during the lifetime of its process: start, reload of settings, stop. */

import { shownProxy } from '../../shared/link/forward-proxy/proxy-settings.js';
import { createLogger, type Logger } from '../../shared/process/output/logger.js';
import { VERSION } from '../../shared/process/release-version.js';
import type { RunningComponents } from '../../shared/process/service/program-lifecycle.js';
import type { ServiceManager } from '../../shared/process/service/systemd-notify.js';
import type { EngineLocations } from '../assembly/open-runtime.js';
import { releaseInheritedSockets } from '../dns/serving/server-sockets.js';
import { startAgent } from './agent-main.js';
import type { AgentSettings } from './agent-settings.js';
import { readHostPolicy } from './read-host-policy.js';

interface ServiceOptions {
  settings: AgentSettings;
  /** Absent without a settings file. Rejects if the file is invalid. */
  reloadSettings?: () => Promise<AgentSettings>;
  engineLocations: EngineLocations;
  manager: ServiceManager;
  /** Resolves with the reason when the agent has to stop. */
  stop: Promise<string>;
}

/** Resolves when the agent has stopped; its containers keep running. Throws the errors of the start. */
export async function runService({
  settings,
  reloadSettings,
  engineLocations: locations,
  manager,
  stop,
}: ServiceOptions): Promise<void> {
  let log = loggerOf(settings);
  // Report readiness while waiting for an operator's approval; otherwise systemd would abort the start.
  const onWaiting = (message: string): void => manager.ready(message);
  let shown = '';
  const onLinkChange = (text: string): void => {
    if (text !== shown) manager.status(text);
    shown = text;
  };
  const started = await startAgent(settings, { places: locations, log, onWaiting, onLinkChange, stop });
  if (!started) return;
  let agent: RunningComponents | undefined = started;
  const { server, data: dataDir, httpsProxy } = settings;
  const proxy = httpsProxy && shownProxy(httpsProxy);
  log.info({ version: VERSION, server, dataDir, ...(proxy && { proxy }) }, 'agent started');
  manager.ready(`node ${settings.nodeName}`);
  let reloading = Promise.resolve();
  const failed = new Promise<never>((_, reject) => {
    if (!reloadSettings) return;
    const reload = async (): Promise<void> => {
      const next = await readOrExplain(() => readWhole(reloadSettings), log);
      if (!next) return;
      await agent?.stop();
      log = loggerOf(next);
      agent = await startAgent(next, { places: locations, log, onLinkChange });
      log.info('settings reloaded');
    };
    process.on('SIGHUP', () => {
      reloading = reloading.then(reload);
      reloading.catch(reject);
    });
  });
  const why = await Promise.race([stop, failed]);
  log.info({ why }, 'agent stops; containers keep running');
  manager.stopping();
  await reloading;
  await releaseInheritedSockets();
  await agent?.stop();
}

/** Checks the policy as well while the agent still runs. */
async function readWhole(read: () => Promise<AgentSettings>): Promise<AgentSettings> {
  const settings = await read();
  await readHostPolicy(settings);
  return settings;
}

/** Invalid settings change nothing: the agent keeps its current ones. */
async function readOrExplain(
  read: () => Promise<AgentSettings>,
  log: Logger,
): Promise<AgentSettings | undefined> {
  try {
    return await read();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.error({ why }, 'the settings are invalid; the agent keeps the old ones');
    return undefined;
  }
}

function loggerOf({ logLevel, nodeName }: AgentSettings): Logger {
  return createLogger(logLevel).child({ node: nodeName });
}
