/** Builds the agent from its components, like a table of contents. */
import { LINK_LABEL, METERED } from '../../shared/kube/nodes/heartbeat-config.js';
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
import { manifestDirectory } from '../desired/static-pod-directory.js';
import { updateLockAt } from '../handovers/update-lock.js';
import { hasIdentity } from '../identity/identity-file.js';
import { podTokenRequester } from '../identity/pod-token-request.js';
import type { CoordinatorAddresses } from '../link/coordinator-addresses.js';
import { AgentMetrics } from '../metrics/agent-metrics.js';
import { agentMetricsText } from '../metrics/agent-metrics-text.js';
import { readHostInfo } from '../node/host-info.js';
import { readProcessUsage } from '../node/process-usage.js';
import { FolderPodFiles } from '../pods/pod-files.js';
import { AgentUpgrades } from '../upgrade/agent-upgrades.js';
import { HostVolumes } from '../volumes/host-volumes.js';
import { makeManifestDirectory } from './agent-data-directory.js';
import { createKubeletPort } from './agent-kubelet-port.js';
import type { AgentSettings } from './agent-settings.js';
import { agentFacts, hostLoad, metricsComponents } from './agent-telemetry.js';
import { closedAtEnd, flushedAtEnd, stoppedAtEnd } from './components-at-end.js';
import { kubeletInputs } from './kubelet-settings.js';
import { joinUnlessStopped, openIdentity } from './open-identity.js';
import { openDesired, openServices, openTimes } from './open-stored-state.js';
import { isolationSettingsOf, readHostPolicy } from './read-host-policy.js';
import { RunMarker } from './run-marker.js';
import { takeDataDir } from './take-data-directory.js';

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
  const { reserve, ...stored } = await openDesired(dataDir, clock, log.child({ component: 'desired' }));
  const { engine, podLogs } = openEngine(start, runtime, clusterUID);
  const metrics = new AgentMetrics(systemClock.now());
  const driver = metrics.operations.instrument(upgrades.driver(engine, releases));
  const { heardTime, journal } = await openTimes(dataDir, bootMark, clock, log);
  const facts = () => agentFacts(agent, nodeName, stored.cache.size, podLogs);
  const page = (): string => agentMetricsText(metrics.values(facts()));
  const port = createKubeletPort({ ...start, engine: runtime.name, identity, post }, () => agent);
  const agent: Agent = createAgent({
    settings: { ...settings, labels: labelsOf(settings) },
    target: identity,
    certificates,
    ...(port ? { serving: port.certificate } : {}),
    driver,
    engine: runtime.name,
    ...stored,
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
      ...flushedAtEnd({ addresses, journal, ...stored }),
      ...stoppedAtEnd({ certificates }),
      ...metricsComponents(settings, page),
      ...(port ? [port] : []),
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
  return { load: hostLoad(data, clock), readHost: (last?: string) => readHostInfo(data, nodeIp, last) };
}

/** Opens the engine's driver, and the log files of Pods if this host can provide them. */
function openEngine({ settings, clock, log }: AgentStart, runtime: OpenedRuntime, clusterUID: string) {
  const podLogs = openPodLogs(settings, runtime.name, clock, log.child({ component: 'pod logs' }));
  return { podLogs, engine: openDriver(runtime, { clusterUID, nodeName: settings.nodeName }, log, podLogs) };
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
