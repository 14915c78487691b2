/** Opens what the agent keeps on disk: assigned Pods, Events, Services and the coordinator's time. */
import { uptime } from 'node:os';
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, systemClock } from '../../shared/process/time/clock.js';
import type { OpenedRuntime } from '../assembly/open-runtime.js';
import { AtRestCipher } from '../desired/at-rest-cipher.js';
import { ConfigCache } from '../desired/config-object-cache.js';
import { DesiredCache } from '../desired/desired-cache.js';
import { DiskReserve } from '../desired/disk-reserve.js';
import { durableFile } from '../desired/durable-file.js';
import { loadHostKey } from '../desired/host-key.js';
import { JobRuns } from '../desired/job-runs.js';
import { findTpmSealer } from '../desired/tpm-sealer.js';
import { type BootClock, CoordinatorTime } from '../handovers/coordinator-time.js';
import { EventJournal } from '../link/event-journal.js';
import { eventJournalFile } from '../link/event-journal-file.js';
import { openServiceTable } from '../services/service-table-file.js';
import {
  cachePath,
  configDirectory,
  coordinatorTimePath,
  hostKeyPath,
  jobRunsPath,
  journalPath,
  reservePath,
  serviceTablePath,
} from './agent-data-directory.js';
import type { AgentSettings } from './agent-settings.js';

/** Opens the coordinator's time as this host last received it, and the journal of Events. */
export async function openTimes(dataDir: string, bootMark: string, clock: Clock, log: Logger) {
  const boot = { bootMark, uptimeMs: () => uptime() * 1000 };
  const heardTime = await CoordinatorTime.open(boot, durableFile(coordinatorTimePath(dataDir)), log);
  return { heardTime, journal: await openJournal(dataDir, boot, heardTime, clock, log) };
}

/** Moments carry the coordinator's time only if it was received in this boot. */
function openJournal(
  dataDir: string,
  { bootMark, uptimeMs }: BootClock,
  heardTime: CoordinatorTime,
  clock: Clock,
  log: Logger,
): Promise<EventJournal> {
  const moment = () => {
    const hubMs = heardTime.now();
    const here = { boot: bootMark, uptimeMs: uptimeMs(), wallMs: systemClock.now() };
    return { ...here, ...(hubMs === undefined ? {} : { hubMs }) };
  };
  return EventJournal.open({ file: eventJournalFile(journalPath(dataDir)), now: moment, clock, log });
}

/**
 * Opens the stored desired state, with reserved disk space for further writes. Secrets are encrypted with the host's
 * key.
 */
export async function openDesired(dataDir: string, clock: Clock, log: Logger) {
  const reserve = new DiskReserve(reservePath(dataDir), clock, log);
  await reserve.allocate();
  const cache = await DesiredCache.open(reserve.withReserve(durableFile(cachePath(dataDir))), clock, log);
  const box = new AtRestCipher(await loadHostKey(hostKeyPath(dataDir), await findTpmSealer(), log));
  const config = await ConfigCache.open({ directory: configDirectory(dataDir), cipher: box }, log);
  const jobRuns = await JobRuns.open(reserve.withReserve(durableFile(jobRunsPath(dataDir))), clock, log);
  return { reserve, cache, config, jobRuns };
}

/** Resolves with the stored Services. Containers of a hollow engine have no network, so their host serves none. */
export async function openServices(
  { data, clusterDns }: AgentSettings,
  { name, network }: Pick<OpenedRuntime, 'name' | 'network'>,
  clock: Clock,
  log: Logger,
) {
  if (name === 'hollow') return {};
  const file = durableFile(serviceTablePath(data));
  const opened = await openServiceTable({ file, clock, log: log.child({ component: 'services' }) });
  return { services: { ...opened, servesDns: clusterDns === 'on', engineNetwork: network } };
}
