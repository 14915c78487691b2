/** The page `/configz`: settings of the agent, with the names of KubeletConfiguration (kubelet.config.k8s.io/v1beta1). */

interface ConfiguredKubelet {
  /** 0 = not served. */
  port: number;
  maxParallelImagePulls: number;
  imageGcHighThreshold: number;
  imageGcLowThreshold: number;
  /** By signal, such as `memory.available`. */
  evictionHard: Readonly<Record<string, string>>;
  evictionSoft: Readonly<Record<string, string>>;
  podMaxPids: number;
  maxPods: number;
  clusterDNS: readonly string[];
  allowedUnsafeSysctls: readonly string[];
}

export function kubeletConfiguration(settings: ConfiguredKubelet): object {
  const { imageGcHighThreshold, imageGcLowThreshold, podMaxPids, maxParallelImagePulls, ...same } = settings;
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...same,
    readOnlyPort: 0,
    enableServer: settings.port > 0,
    enableDebuggingHandlers: false,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: '2m0s' },
    },
    authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
    clusterDomain: 'cluster.local',
    imageGCHighThresholdPercent: imageGcHighThreshold,
    imageGCLowThresholdPercent: imageGcLowThreshold,
    podPidsLimit: podMaxPids > 0 ? podMaxPids : -1,
    serializeImagePulls: maxParallelImagePulls === 1,
    maxParallelImagePulls,
  };
}

/** Parses thresholds such as `memory.available<100Mi,nodefs.available<10%`. */
export function thresholdsBySignal(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(',')
      .map((pair) => pair.trim().split('<'))
      .filter((pair): pair is [string, string] => pair.length === 2),
  );
}
