/** The agent's own metrics and the host's load. */
import { cpus, totalmem } from 'node:os';
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { AgentServices } from '../assembly/agent-services.js';
import type { Agent } from '../assembly/create-agent.js';
import type { AgentMetricInputs } from '../metrics/agent-metrics.js';
import { AgentMetricsServer, parseMetricsAddress } from '../metrics/agent-metrics-server.js';
import { readHostCounters } from '../node/host-counters.js';
import { HostLoad } from '../node/host-load.js';
import { readFileSystemUsage, usedFraction } from '../node/pressure-readings.js';
import { readProcessUsage } from '../node/process-usage.js';
import type { PodLogFiles } from '../pod-logs/pod-log-files.js';
import type { AgentSettings } from './agent-settings.js';

/** Returns a function that reads the host's load. */
export function hostLoad(dataDir: string, clock: Clock): () => HeartbeatReading {
  const load = new HostLoad({
    counters: readHostCounters,
    cpus: cpus().length,
    memoryBytes: totalmem(),
    diskUse: async () => usedFraction(await readFileSystemUsage(dataDir)),
    clock,
  });
  return () => load.read();
}

export function metricsComponents({ metricsAddress }: AgentSettings, page: () => string): Component[] {
  const address = parseMetricsAddress(metricsAddress);
  if (!address) return [];
  const server = new AgentMetricsServer(address, page);
  const start = async () => void (await server.start());
  return [{ name: 'metrics', start, stop: () => server.stop() }];
}

export function agentFacts(
  { node, link, services }: Agent,
  nodeName: string,
  desiredPods: number,
  podLogs?: Pick<PodLogFiles, 'counts'>,
): AgentMetricInputs {
  const { roundTripMs } = link;
  return {
    ...readProcessUsage(),
    node: nodeName,
    isConnected: link.phase === 'live',
    isEngineUp: node.isEngineUp,
    ...(roundTripMs === undefined ? {} : { roundTripMs }),
    desiredPods,
    ...(services ? { services: serviceCounts(services) } : {}),
    ...(podLogs ? { podLogs: podLogs.counts } : {}),
    linkBytes: (direction, cause) => link.bytes.of(direction, cause),
  };
}

function serviceCounts({ table, dns }: AgentServices): NonNullable<AgentMetricInputs['services']> {
  const { queries, cachedReplies } = dns?.counts() ?? { queries: 0, cachedReplies: 0 };
  return { known: table.knownServices, dnsQueries: queries, cachedReplies };
}
