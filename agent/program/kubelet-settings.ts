/** Settings of the kubelet's pages and port. */
import { CLUSTER_DNS_ADDRESS } from '../../shared/kube/services/cluster-dns.js';
import type { KubeletInputs } from '../assembly/agent-deps.js';
import { kubeletConfiguration, thresholdsBySignal } from '../kubelet/kubelet-configuration.js';
import { kubeletPort, parseKubeletPort } from '../kubelet/kubelet-port-setting.js';
import type { ProbeCounts } from '../metrics/probe-counts.js';
import { MAX_PODS } from '../node/node-status.js';
import type { AgentSettings } from './agent-settings.js';

/** Returns the port to listen at; 0 = none. Containers of a hollow engine have no figures worth a port. */
export function portOf({ kubeletPort: setting }: Pick<AgentSettings, 'kubeletPort'>, engine: string): number {
  if (engine === 'hollow') return 0;
  return kubeletPort(parseKubeletPort(setting), process.getuid?.() === 0);
}

/** Returns the inputs of the kubelet's pages. */
export function kubeletInputs(
  settings: AgentSettings,
  engine: string,
  probes: ProbeCounts,
  metrics: () => string,
): { kubelet: KubeletInputs } {
  const { data, evictionHard, evictionSoft, clusterDns, ...same } = settings;
  const { maxParallelImagePulls, imageGcHighThreshold, imageGcLowThreshold, podMaxPids } = same;
  const config = () =>
    kubeletConfiguration({
      port: portOf(settings, engine),
      ...{ maxParallelImagePulls, imageGcHighThreshold, imageGcLowThreshold, podMaxPids },
      evictionHard: thresholdsBySignal(evictionHard),
      evictionSoft: thresholdsBySignal(evictionSoft),
      maxPods: MAX_PODS,
      clusterDNS: clusterDns === 'on' ? [CLUSTER_DNS_ADDRESS] : [],
      allowedUnsafeSysctls: settings.allowedUnsafeSysctls,
    });
  return { kubelet: { dataDir: data, probes, metrics, config } };
}
