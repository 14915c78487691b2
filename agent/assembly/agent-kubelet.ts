/** Connects the kubelet's pages with the host's Pods and engine. */
import { uptime } from 'node:os';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { effectivePod } from '../decisions/handovers/assigned-pod-handover.js';
import { KubeletReadings } from '../kubelet/kubelet-readings.js';
import { KubeletRouter } from '../kubelet/kubelet-router.js';
import { readHostFigures } from '../node/host-figures.js';
import type { NodeStatusReporter } from '../node/node-status-reporter.js';
import type { AgentDeps } from './agent-deps.js';

/** Returns the pages; undefined for a simulated host. Nothing is measured before a page is asked for. */
export function createKubeletRouter(deps: AgentDeps, node: NodeStatusReporter): KubeletRouter | undefined {
  const { kubelet, driver, volumes, clock, wallClock, settings } = deps;
  if (!kubelet) return undefined;
  const pods = () => podsOf(deps);
  const readHost = () => readHostFigures(kubelet.dataDir, node.engine?.rootDir);
  return new KubeletRouter({
    nodeName: settings.nodeName,
    readings: new KubeletReadings({ driver, readHost, volumes, pods, clock, wallClock }),
    pods,
    host: () => {
      const { machineID, systemUUID, bootID, kernelVersion, osImage } = node.host;
      return {
        ...{ machineID, systemUUID, bootID, kernelVersion, osImage },
        bootedAtMs: wallClock.now() - uptime() * 1000,
        engineVersion: node.engine?.version ?? '',
      };
    },
    metrics: kubelet.metrics,
    probes: () => kubelet.probes.family(),
    config: kubelet.config,
  });
}

function podsOf({ cache, podCounts }: AgentDeps): Pod[] {
  return [...cache.all()].map(effectivePod).map(({ uid, pod }) => {
    const status = podCounts?.statusOf(uid);
    return { ...pod, ...(status ? { status } : {}) };
  });
}
