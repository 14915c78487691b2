/** Builds the agent from its components, like a table of contents. */
import { uptime } from 'node:os';
import { LINK_LABEL, METERED } from '../../shared/kube/nodes/heartbeat-config.js';
import { tunnelOpener } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { trackNewFiles, trackNewFolders } from '../../shared/process/files/new-file-cleanup.js';
import type { Logger } from '../../shared/process/output/logger.js';
import {
  type Component,
  type RunningComponents,
  startComponents,
} from '../../shared/process/service/program-lifecycle.js';
import { type Clock, monotonicClock, systemClock } from '../../shared/process/time/clock.js';
import { systemRandom } from '../../shared/process/time/random.js';
import { checkImageThresholds, imageHandling } from '../assembly/agent-images.js';
import { openPodLogs } from '../assembly/agent-pod-logs.js';
import { pressureHandling } from '../assembly/agent-pressure.js';
import { type Agent, createAgent } from '../assembly/create-agent.js';
import {
  type EngineLocations,
  type OpenedRuntime,
  openDriver,
  openRuntime,
} from '../assembly/open-runtime.js';
import { AtRestCipher } from '../desired/at-rest-cipher.js';
import { ConfigCache } from '../desired/config-object-cache.js';
import { DesiredCache } from '../desired/desired-cache.js';
import { DiskReserve } from '../desired/disk-reserve.js';
import { durableFile } from '../desired/durable-file.js';
import { loadHostKey } from '../desired/host-key.js';
import { manifestDirectory } from '../desired/static-pod-directory.js';
import { findTpmSealer } from '../desired/tpm-sealer.js';
import { type BootClock, CoordinatorTime } from '../handovers/coordinator-time.js';
import { updateLockAt } from '../handovers/update-lock.js';
import { CertificateRenewer } from '../identity/certificate-renewer.js';
import { openCoordinatorAddresses } from '../identity/coordinator-address-file.js';
import { coordinatorPoster } from '../identity/coordinator-post.js';
import { HostIdentity } from '../identity/host-identity.js';
import { hasIdentity } from '../identity/identity-file.js';
import { joinWithSettings } from '../identity/join-with-settings.js';
import { podTokenRequester } from '../identity/pod-token-request.js';
import type { CoordinatorAddresses } from '../link/coordinator-addresses.js';
import { EventJournal } from '../link/event-journal.js';
import { eventJournalFile } from '../link/event-journal-file.js';
import { AgentMetrics } from '../metrics/agent-metrics.js';
import { agentMetricsText } from '../metrics/agent-metrics-text.js';
import { readHostInfo } from '../node/host-info.js';
import { readProcessUsage } from '../node/process-usage.js';
import { FolderPodFiles } from '../pods/pod-files.js';
import { openServiceTable } from '../services/service-table-file.js';
import { AgentUpgrades } from '../upgrade/agent-upgrades.js';
import { HostVolumes } from '../volumes/host-volumes.js';
import {
  cachePath,
  configDirectory,
  coordinatorTimePath,
  hostKeyPath,
  journalPath,
  lockDataDir,
  makeManifestDirectory,
  prepareDataDir,
  reservePath,
  serviceTablePath,
} from './agent-data-directory.js';
import { createKubeletPort } from './agent-kubelet-port.js';
import type { AgentSettings } from './agent-settings.js';
import { agentFacts, hostLoad, metricsComponents } from './agent-telemetry.js';
import { kubeletInputs } from './kubelet-settings.js';
import { isolationSettingsOf, readHostPolicy } from './read-host-policy.js';
import { RunMarker } from './run-marker.js';
import { hostMayWrite, waitForWritableDisk } from './wait-for-writable-disk.js';

/** Parameters of an agent's start besides its settings. */
interface StartContext {
  places: EngineLocations;
  log: Logger;
  /** Called while an operator has to approve this host. */
  onWaiting?: (message: string) => void;
  /** Called with a sentence when the link to the coordinator is live or has failed. */
  onLinkChange?: (text: string) => void;
  /** Resolves when the agent has to stop. */
  stop?: Promise<unknown>;
}

/**
 * Starts the agent; stopping it leaves containers running. Resolves with undefined if `stop` resolved before the host
 * had joined. If it fails or stops before the join was requested, it leaves no file behind. Throws `ExitError` for
 * problems that an operator can fix.
 */
export async function startAgent(
  settings: AgentSettings,
  context: StartContext,
): Promise<RunningComponents | undefined> {
  const { data: dataDir } = settings;
  const clock = monotonicClock(systemClock);
  checkImageThresholds(settings);
  const policy = await readHostPolicy(settings);
  const removeNewFolders = trackNewFolders(dataDir);
  const directory = await takeDataDir(dataDir, clock, context.log);
  // With the directory locked, all new files are this agent's.
  const removeNewFiles = trackNewFiles(dataDir);
  let running: RunningComponents | undefined;
  try {
    running = await startWith({ settings, policy, directory, clock, ...context });
    return running;
  } finally {
    if (!running && !hasIdentity(dataDir)) {
      removeNewFiles();
      removeNewFolders();
    }
  }
}

interface AgentStart extends StartContext {
  settings: AgentSettings;
  policy: Awaited<ReturnType<typeof readHostPolicy>>;
  /** Components that lock the data directory. */
  directory: readonly Component[];
  clock: Clock;
}

async function startWith(start: AgentStart): Promise<RunningComponents | undefined> {
  const { settings, places: locations, policy, directory, clock, log } = start;
  const { data: dataDir, nodeName } = settings;
  const pressure = pressureHandling(settings);
  // Before any step that may fail or block: a version on trial is judged by its number of starts.
  const upgrades = await startUpgrades(dataDir, clock, log);
  const marker = new RunMarker(dataDir, log);
  const { bootMark } = readHostInfo(dataDir, settings.nodeIp);
  const runtime = await openRuntime(settings.runtime, locations, dataDir, clock);
  const joined = await joinUnlessStopped(start);
  if (!joined) return undefined;
  const { identity, certificates, server, post, releases } = await openIdentity(joined, start);
  const { addresses, clusterUID } = identity;
  const { reserve, cache, config } = await openDesired(dataDir, clock, log.child({ component: 'desired' }));
  const { engine, podLogs } = openEngine(start, runtime, clusterUID);
  const metrics = new AgentMetrics(systemClock.now());
  const driver = metrics.operations.instrument(upgrades.driver(engine, releases));
  const { heardTime, journal } = await openTimes(dataDir, bootMark, clock, log);
  const facts = () => agentFacts(agent, nodeName, cache.size, podLogs);
  const page = (): string => agentMetricsText(metrics.values(facts()));
  const port = createKubeletPort({ ...start, engine: runtime.name, identity, post }, () => agent);
  const agent: Agent = createAgent({
    settings: { ...settings, labels: labelsOf(settings) },
    target: identity,
    certificates,
    ...(port ? { serving: port.certificate } : {}),
    driver,
    engine: runtime.name,
    cache,
    config,
    ...filesOf(settings, runtime),
    api: { askToken: podTokenRequester(post), server, ca: () => identity.ca },
    isolation: isolationSettingsOf(settings, policy),
    images: await imageHandling(settings, driver),
    pressure,
    ...(await openServices(settings, runtime, clock, log)),
    updateLock: updateLockAt(settings.updateLock, clock, systemClock),
    coordinatorTime: heardTime,
    journal,
    previousExit: await marker.markStarted(bootMark),
    ...linkListeners(start, upgrades, addresses),
    podCounts: metrics.pods,
    ...kubeletInputs(settings, runtime.name, metrics.probes, page),
    cost: readProcessUsage,
    ...readersOfHost(settings, clock),
    ...{ clock, wallClock: systemClock, random: systemRandom, log },
  });
  return startComponents(
    [
      ...directory,
      ...stoppedAtEnd({ 'run marker': { stop: () => marker.markStopped() }, upgrades }),
      ...closedAtEnd({ runtime, driver }),
      ...stoppedAtEnd({ ...(podLogs && { 'pod logs': podLogs }), reserve }),
      ...flushedAtEnd({ addresses, cache, journal, config }),
      ...stoppedAtEnd({ certificates }),
      ...metricsComponents(settings, page),
      ...(port ? [port.component] : []),
      ...agent.components,
    ],
    log,
  );
}

/** The folders of Pods, volumes and static manifests below the data directory. */
function filesOf({ data, manifests }: AgentSettings, runtime: OpenedRuntime) {
  return {
    manifests: manifestDirectory(manifests ?? makeManifestDirectory(data)),
    volumes: new HostVolumes(data, runtime.processes),
    files: new FolderPodFiles(data),
  };
}

function readersOfHost({ data, nodeIp }: AgentSettings, clock: Clock) {
  return { load: hostLoad(data, clock), readHost: () => readHostInfo(data, nodeIp) };
}

/** Opens the engine's driver, and the log files of Pods if this host can provide them. */
function openEngine({ settings, clock, log }: AgentStart, runtime: OpenedRuntime, clusterUID: string) {
  const podLogs = openPodLogs(settings, runtime.name, clock, log.child({ component: 'pod logs' }));
  return { podLogs, engine: openDriver(runtime, { clusterUID, nodeName: settings.nodeName }, log, podLogs) };
}

function stoppedAtEnd(parts: Readonly<Record<string, { stop(): Promise<void> | void }>>): Component[] {
  return Object.entries(parts).map(([name, part]) => ({ name, stop: () => part.stop() }));
}

function closedAtEnd(parts: Readonly<Record<string, { close(): Promise<void> | void }>>): Component[] {
  return Object.entries(parts).map(([name, part]) => ({ name, stop: () => part.close() }));
}

/** Returns components that write the last changes to the disk. */
function flushedAtEnd(files: Readonly<Record<string, { flush(): Promise<void> }>>): Component[] {
  return Object.entries(files).map(([name, file]) => ({ name, stop: () => file.flush() }));
}

/** Opens the identity of a host that has joined, and the addresses of its coordinators. */
async function openIdentity(
  { enrolment, servers }: Joined,
  { settings, clock, log }: Pick<AgentStart, 'settings' | 'clock' | 'log'>,
) {
  const { data } = settings;
  const addresses = await openCoordinatorAddresses(data, servers, log.child({ component: 'link' }));
  const server = () => addresses.server;
  const identity = new HostIdentity(addresses, data, enrolment, tunnelOpener(settings, clock));
  const certificates = new CertificateRenewer({
    ...{ identity, server, clock, random: systemRandom },
    log: log.child({ component: 'certificates' }),
  });
  const releases = { server, ca: () => identity.ca, tunnel: identity.tunnel };
  return { identity, certificates, server, releases, post: coordinatorPoster(server, identity) };
}

function linkListeners(
  { settings: { nodeName }, onLinkChange }: Pick<AgentStart, 'settings' | 'onLinkChange'>,
  upgrades: AgentUpgrades,
  addresses: CoordinatorAddresses,
) {
  return {
    onLive: () => {
      upgrades.confirm();
      onLinkChange?.(`node ${nodeName}, connected to ${addresses.current}`);
    },
    onFailed: () => onLinkChange?.(`node ${nodeName}, not connected to a coordinator`),
  };
}

type Joined = Awaited<ReturnType<typeof joinWithSettings>>;

/** Resolves with the enrolment; undefined if the agent has to stop first, because an approval may take days. */
function joinUnlessStopped({ settings, log, onWaiting, stop }: AgentStart): Promise<Joined | undefined> {
  const joining = joinWithSettings(settings, (message) => {
    log.warn(message);
    onWaiting?.(message);
  });
  return stop ? Promise.race([joining, stop.then(() => undefined)]) : joining;
}

/** Opens the coordinator's time as this host last received it, and the journal of Events. */
async function openTimes(dataDir: string, bootMark: string, clock: Clock, log: Logger) {
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

/** Creates the directory if it is missing and locks it for this process. */
async function takeDataDir(dataDir: string, clock: Clock, log: Logger): Promise<Component[]> {
  const isWritable = prepareDataDir(dataDir);
  const lock = await lockDataDir(dataDir);
  const lockComponent: Component = { name: 'lock', stop: () => lock.release() };
  return isWritable ? [lockComponent] : [lockComponent, ...readOnlyComponents(dataDir, clock, log)];
}

/** Returns a component that restarts a service once the disk is writable. */
function readOnlyComponents(dataDir: string, clock: Clock, log: Logger): Component[] {
  log.error({ dataDir }, 'the disk is read-only: changes of the desired state are kept only in memory');
  // If the host may write and its service may not, the restriction is intended.
  if (!process.env.INVOCATION_ID || hostMayWrite(dataDir)) return [];
  const restart = (): void => {
    log.info({ dataDir }, 'the disk is writable again: the agent restarts, containers keep running');
    process.kill(process.pid, 'SIGTERM');
  };
  return [waitForWritableDisk(() => hostMayWrite(dataDir), restart, clock)];
}

/**
 * Opens the stored desired state, with reserved disk space for further writes. Secrets are encrypted with the host's
 * key.
 */
async function openDesired(dataDir: string, clock: Clock, log: Logger) {
  const reserve = new DiskReserve(reservePath(dataDir), clock, log);
  await reserve.allocate();
  const cache = await DesiredCache.open(reserve.withReserve(durableFile(cachePath(dataDir))), clock, log);
  const box = new AtRestCipher(await loadHostKey(hostKeyPath(dataDir), await findTpmSealer(), log));
  const config = await ConfigCache.open({ directory: configDirectory(dataDir), cipher: box }, log);
  return { reserve, cache, config };
}

/** Resolves with the stored Services. Containers of a hollow engine have no network, so their host serves none. */
async function openServices(
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

/** Counts this start of a version on trial. Throws `ExitError` if the previous version has to return. */
async function startUpgrades(dataDir: string, clock: Clock, log: Logger): Promise<AgentUpgrades> {
  const upgrades = new AgentUpgrades({ dataDir, clock, wallClock: systemClock, random: systemRandom, log });
  if (await upgrades.start()) return upgrades;
  const sentence = 'This version of the agent did not stay up; the previous version is restored.';
  throw new ExitError(EXIT_CODES.environment, sentence);
}

/** A metered link is a label of the Node, which an operator can also set. */
function labelsOf({ labels, lowData }: AgentSettings): Record<string, string> {
  return lowData ? { ...labels, [LINK_LABEL]: METERED } : labels;
}
