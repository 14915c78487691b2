/** Builds the agent and wires its parts: read it as the table of contents. */
import { randomUUID } from 'node:crypto';
import { toTimestamp } from '../shared/kube/meta.js';
import { LINK_PATH } from '../shared/link/messages.js';
import { steadyClock, systemClock } from '../shared/process/clock.js';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { type Running, startInOrder } from '../shared/process/lifecycle.js';
import type { Logger } from '../shared/process/log.js';
import { VERSION } from '../shared/process/version.js';
import { createAgentSide } from './agent-side.js';
import { cachePath, lockDataDir, prepareDataDir } from './data-dir.js';
import { DesiredCache } from './desired/desired-cache.js';
import { EnrolError, type Enrolment, enrol } from './enrol.js';
import type { LinkTarget } from './link/connection.js';
import { Link } from './link/link.js';
import { readHostInfo } from './node/host-info.js';
import { allocatableOf } from './node/node-status.js';
import { NodeWatch } from './node/node-watch.js';
import { type EnginePlaces, openRuntime } from './open-runtime.js';
import { Images } from './pods/images.js';
import type { PodReports } from './pods/pod-host.js';
import { PodWorkers } from './pods/pod-workers.js';
import { watchRuntime } from './pods/runtime-watch.js';
import type { AgentSettings } from './settings.js';
import { Volumes } from './volumes/mounts.js';

/** Starts the agent; stopping it touches no container. Throws `ExitError` for what a person can mend. */
export async function startAgent(
  settings: AgentSettings,
  places: EnginePlaces,
  log: Logger,
): Promise<Running> {
  const { data: dataDir, nodeName } = settings;
  const clock = steadyClock(systemClock);
  prepareDataDir(dataDir);
  const lock = await lockDataDir(dataDir);
  const runtime = await openRuntime(settings.runtime, places, dataDir, clock);
  const enrolment = await becomeNode(settings);
  const cache = await DesiredCache.open(cachePath(dataDir), clock, log.child({ component: 'desired' }));
  const driver = runtime.driverFor({ clusterUID: enrolment.clusterUID, nodeName });

  const node = new NodeWatch({
    nodeName,
    agentVersion: VERSION,
    driver,
    readHost: () => readHostInfo(dataDir, settings.nodeIp),
    onChange: (status) => link.outbox.putNode(status),
    clock,
  });
  const reports: PodReports = {
    putPod: (report) => link.outbox.putPod(report),
    putRemoved: (pod) => link.outbox.putRemoved(pod),
    putEvent: (event) => link.outbox.putEvent(event),
  };
  const workers = new PodWorkers(cache, {
    driver,
    images: new Images(driver, clock),
    volumes: new Volumes(dataDir),
    reports,
    clock,
    log: log.child({ component: 'pods' }),
    facts: () => ({
      nodeName,
      ...(node.host.address ? { hostIP: node.host.address } : {}),
      allocatable: allocatableOf(node.host),
      engine: runtime.name,
      bootMark: node.host.bootMark,
      engineUpSince: node.engineUpSince,
    }),
  });
  const link: Link = new Link({
    target: linkTarget(enrolment, settings),
    identity: { node: nodeName, bootID: node.host.bootID, instanceID: randomUUID(), agentVersion: VERSION },
    agent: createAgentSide({ settings, cache, workers, node, driver, wallClock: systemClock, log }),
    clock,
    log: log.child({ component: 'link' }),
    random: Math.random,
  });
  const runtimeLog = log.child({ component: 'runtime' });
  const listeners = [node.onRuntimeEvent.bind(node), workers.onRuntimeEvent.bind(workers)];
  const watch = watchRuntime(driver, listeners, clock, runtimeLog);
  const startedAt = toTimestamp(clock.now());

  return startInOrder(
    [
      { name: 'lock', stop: () => lock.release() },
      { name: 'runtime', stop: () => runtime.close() },
      { name: 'driver', stop: () => driver.close() },
      { name: 'cache', stop: () => cache.flush() },
      { name: 'node', start: () => node.start(), stop: () => node.stop() },
      { name: 'pods', start: () => workers.start(), stop: () => workers.stop() },
      // The hello is to tell of containers that only the engine knows: it waits for the first look.
      { name: 'engine events', start: () => watch.firstEvent, stop: () => watch.stop() },
      { name: 'link', start: () => link.start(), stop: () => link.stop() },
      { name: 'announcement', start: () => announce(reports, nodeName, startedAt) },
    ],
    log,
  );
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
  return { url: url.href, ca: enrolment.ca, credential: enrolment.credential };
}

/** As a kubelet says of itself when it starts. */
function announce(reports: PodReports, nodeName: string, time: string): void {
  reports.putEvent({
    involvedObject: { kind: 'Node', name: nodeName, uid: nodeName },
    type: 'Normal',
    reason: 'Starting',
    message: 'Starting kubelet.',
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
  });
}
