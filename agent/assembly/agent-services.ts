/** Connects Services: the table, the DNS server of the Pods, the rules of the kernel and the relay. */
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import { type ClusterDns, createClusterDns } from '../dns/cluster-dns-server.js';
import { NftServiceProxy } from '../netfilter/nft-service-proxy.js';
import type { NodeStatusReporter } from '../node/node-status-reporter.js';
import type { EngineNetwork } from '../runtime/engine-network-namespace.js';
import { createPodDialer } from '../services/pod-dialer.js';
import { ServiceRelay } from '../services/service-relay.js';
import { ServiceTable } from '../services/service-table.js';
import type { AgentDeps } from './agent-deps.js';

/** Services, as the rest of the agent uses them. */
export interface AgentServices {
  table: ServiceTable;
  /** Absent if it is off. */
  dns: ClusterDns | undefined;
  /** To be started before the Pods and the link: a new Pod's resolver must exist, and so must its rules. */
  components: Component[];
}

/**
 * Returns undefined for simulated hosts. Nothing runs before the components are started. `warn` reports a Warning of the
 * Node.
 */
export function createAgentServices(
  deps: AgentDeps,
  node: NodeStatusReporter,
  warn: (reason: string, message: string) => void,
): AgentServices | undefined {
  const { services: handling, settings, cache, clock, random } = deps;
  if (!handling) return undefined;
  const log = deps.log.child({ component: 'services' });
  const proxy = new NftServiceProxy({
    node: () => ({ ...table.own, name: table.own.node, addresses: nodeAddresses(node) }),
    onCondition: (condition) => node.setServiceProxy(condition),
    clock,
    log,
  });
  const table = new ServiceTable({
    nodeName: settings.nodeName,
    assigned: cache,
    proxy,
    ...handling,
    bootMark: node.host.bootMark,
    clock,
  });
  cache.onChange(() => table.onPodsChanged());
  const dns = handling.servesDns
    ? createClusterDns({
        services: table,
        hasNamespace: (namespace) => table.hasPodIn(namespace),
        canPodsConnect: podReach(handling.engineNetwork, node),
        warn,
        clock,
        random,
        log: deps.log.child({ component: 'dns' }),
      })
    : undefined;
  const relay = new ServiceRelay({
    services: table,
    dial: createPodDialer({
      driver: deps.driver,
      findPod: (address) => table.podWithAddress(address),
      clock,
    }),
    addresses: () => nodeAddresses(node),
    clock,
    log: log.child({ component: 'relay' }),
  });
  return {
    table,
    dns,
    components: [
      { name: 'service proxy', start: () => proxy.start(), stop: () => proxy.stop() },
      { name: 'services', start: () => table.start(), stop: () => table.stop() },
      { name: 'service relay', start: () => relay.start(), stop: () => relay.stop() },
      ...(dns ? [dns] : []),
    ],
  };
}

/**
 * Returns the check whether Pods can reach an address of this host's loopback device. A rootless engine's Pods, and those
 * of an engine in another network namespace, cannot: with the cluster DNS they could resolve no name at all.
 */
function podReach(network: () => Promise<EngineNetwork>, node: NodeStatusReporter): () => Promise<boolean> {
  let found: EngineNetwork = 'unknown';
  return async () => {
    if (node.engine?.rootless) return false;
    if (found === 'unknown') found = await network();
    return found !== 'other';
  };
}

function nodeAddresses({ host }: NodeStatusReporter): string[] {
  return host.address ? [host.address] : [];
}
