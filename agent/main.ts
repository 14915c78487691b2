/** Builds the agent and wires its parts: read it as the table of contents. */
import { join } from 'node:path';
import { LINK_PATH } from '../shared/link/messages.js';
import { systemChance } from '../shared/process/chance.js';
import { steadyClock, systemClock } from '../shared/process/clock.js';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { type Running, startInOrder } from '../shared/process/lifecycle.js';
import type { Logger } from '../shared/process/log.js';
import { createAgent } from './agent.js';
import {
  cachePath,
  configDirectory,
  hostKeyPath,
  lockDataDir,
  makeManifestDirectory,
  prepareDataDir,
} from './data-dir.js';
import { ConfigCache } from './desired/config-cache.js';
import { DesiredCache } from './desired/desired-cache.js';
import { durableFile } from './desired/durable-file.js';
import { loadHostKey } from './desired/host-key.js';
import { SecretBox } from './desired/secret-box.js';
import { findTpmSealer } from './desired/tpm-sealer.js';
import { EnrolError, type Enrolment, enrol } from './enrol.js';
import { ImageRecords } from './images/image-records.js';
import { RegistrySettings } from './images/registry-settings.js';
import type { LinkTarget } from './link/connection.js';
import { diskUse } from './node/disk-use.js';
import { readHostInfo } from './node/host-info.js';
import { type EnginePlaces, openRuntime } from './open-runtime.js';
import { FolderPodFiles } from './pods/pod-files.js';
import type { AgentSettings } from './settings.js';
import { Volumes } from './volumes/volumes.js';

/** Starts the agent; stopping it touches no container. Throws `ExitError` for what a person can mend. */
export async function startAgent(
  settings: AgentSettings,
  places: EnginePlaces,
  log: Logger,
): Promise<Running> {
  const { data: dataDir, nodeName } = settings;
  const clock = steadyClock(systemClock);
  checkThresholds(settings);
  prepareDataDir(dataDir);
  const lock = await lockDataDir(dataDir);
  const runtime = await openRuntime(settings.runtime, places, dataDir, clock);
  const enrolment = await becomeNode(settings);
  const cache = await DesiredCache.open(
    durableFile(cachePath(dataDir)),
    clock,
    log.child({ component: 'desired' }),
  );
  const config = await openConfigCache(dataDir, log);
  const driver = runtime.driverFor({ clusterUID: enrolment.clusterUID, nodeName });

  const agent = createAgent({
    settings,
    target: linkTarget(enrolment, settings),
    driver,
    engine: runtime.name,
    cache,
    config,
    manifests: settings.manifests ?? makeManifestDirectory(dataDir),
    volumes: new Volumes(dataDir),
    isolation: {
      seccompRoot: join(dataDir, 'seccomp'),
      allowedUnsafeSysctls: settings.allowedUnsafeSysctls,
      ...(settings.podMaxPids > 0 ? { podPidsLimit: settings.podMaxPids } : {}),
    },
    files: new FolderPodFiles(dataDir),
    images: {
      registries: new RegistrySettings(settings.registries ?? join(dataDir, 'registries.json')),
      pullsAtOnce: settings.maxParallelImagePulls,
      records: await ImageRecords.open(join(dataDir, 'images.json')),
      collection: {
        thresholds: { high: settings.imageGcHighThreshold, low: settings.imageGcLowThreshold },
        disk: async () => diskUse((await driver.info()).rootDir ?? dataDir),
      },
    },
    readHost: () => readHostInfo(dataDir, settings.nodeIp),
    clock,
    wallClock: systemClock,
    chance: systemChance,
    log,
  });

  return startInOrder(
    [
      { name: 'lock', stop: () => lock.release() },
      { name: 'runtime', stop: () => runtime.close() },
      { name: 'driver', stop: () => driver.close() },
      { name: 'cache', stop: () => cache.flush() },
      { name: 'config', stop: () => config.flush() },
      ...agent.parts,
    ],
    log,
  );
}

/** Its Secrets are sealed under the host's key. */
async function openConfigCache(dataDir: string, log: Logger): Promise<ConfigCache> {
  const cacheLog = log.child({ component: 'desired' });
  const box = new SecretBox(await loadHostKey(hostKeyPath(dataDir), await findTpmSealer(), cacheLog));
  return ConfigCache.open({ directory: configDirectory(dataDir), box }, cacheLog);
}

function checkThresholds({ imageGcHighThreshold: high, imageGcLowThreshold: low }: AgentSettings): void {
  if (low <= high) return;
  const why = `--image-gc-low-threshold ${low} is above --image-gc-high-threshold ${high}`;
  throw new ExitError(EXIT_CODES.usage, `${why}: images would be removed without end.`);
}

async function becomeNode(settings: AgentSettings): Promise<Enrolment> {
  const { data: dataDir, nodeName: node, server, token } = settings;
  if (server === undefined) {
    throw new ExitError(EXIT_CODES.usage, 'The coordinator is not named: give --server https://HOST:PORT.');
  }
  try {
    return await enrol({ dataDir, server, node, ...(token ? { token } : {}) });
  } catch (error) {
    if (!(error instanceof EnrolError)) throw error;
    const code = error.temporary ? EXIT_CODES.environment : EXIT_CODES.refused;
    throw new ExitError(code, `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
  }
}

function linkTarget(enrolment: Enrolment, settings: AgentSettings): LinkTarget {
  const url = new URL(LINK_PATH, settings.server);
  url.protocol = 'wss:';
  const { ca, credential, seal } = enrolment;
  return { url: url.href, ca, credential, ...(seal && { joinSeal: seal }) };
}
