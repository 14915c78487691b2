/** The agent for as long as its process runs: started, told to read its settings again, stopped. */

import { createLogger, type Logger } from '../../shared/process/output/logger.js';
import { VERSION } from '../../shared/process/release-version.js';
import type { RunningComponents } from '../../shared/process/service/program-lifecycle.js';
import type { ServiceManager } from '../../shared/process/service/systemd-notify.js';
import type { EngineLocations } from '../assembly/open-runtime.js';
import { startAgent } from './agent-main.js';
import type { AgentSettings } from './agent-settings.js';
import { readHostPolicy } from './read-host-policy.js';

interface ServiceOptions {
  settings: AgentSettings;
  /** Absent where there is no file to read again. Rejects when it is wrong. */
  reloadSettings?: () => Promise<AgentSettings>;
  engineLocations: EngineLocations;
  manager: ServiceManager;
  /** Resolves with the reason when the agent is to end. */
  stop: Promise<string>;
}

/** Resolves when the agent has stopped; its containers run on. Throws what its start throws. */
export async function runService({
  settings,
  reloadSettings: readAgain,
  engineLocations: places,
  manager,
  stop,
}: ServiceOptions): Promise<void> {
  let log = loggerOf(settings);
  // Who waits for a person works: systemd is not to give it up.
  const onWaiting = (message: string): void => manager.ready(message);
  const started = await startAgent(settings, { places, log, onWaiting, stop });
  if (!started) return;
  let agent: RunningComponents | undefined = started;
  log.info({ version: VERSION, server: settings.server, dataDir: settings.data }, 'agent started');
  manager.ready(`node ${settings.nodeName}`);
  let turn = Promise.resolve();
  const failed = new Promise<never>((_, reject) => {
    if (!readAgain) return;
    const reload = async (): Promise<void> => {
      const next = await readOrExplain(() => readWhole(readAgain), log);
      if (!next) return;
      await agent?.stop();
      log = loggerOf(next);
      agent = await startAgent(next, { places, log });
      log.info('settings read again');
    };
    process.on('SIGHUP', () => {
      turn = turn.then(reload);
      turn.catch(reject);
    });
  });
  const why = await Promise.race([stop, failed]);
  log.info({ why }, 'agent stops; containers keep running');
  manager.stopping();
  await turn;
  await agent?.stop();
}

/** Settings whose policy can be used: looked at while the agent still runs. */
async function readWhole(read: () => Promise<AgentSettings>): Promise<AgentSettings> {
  const settings = await read();
  await readHostPolicy(settings);
  return settings;
}

/** Wrong settings change nothing: the agent goes on with those it has. */
async function readOrExplain(
  read: () => Promise<AgentSettings>,
  log: Logger,
): Promise<AgentSettings | undefined> {
  try {
    return await read();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.error({ why }, 'the settings are wrong; the agent goes on with the old ones');
    return undefined;
  }
}

function loggerOf({ logLevel, nodeName }: AgentSettings): Logger {
  return createLogger(logLevel).child({ node: nodeName });
}
