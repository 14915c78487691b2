/** Isolation features that a host and its engine support and allow, as plain data. */

import type { EngineInfo } from '../../runtime/runtime-driver.js';
import type { HostPolicy } from './host-policy.js';

export interface HostIsolation {
  /** Memory of the host, bytes; memory requests are compared with it. */
  memoryBytes: number;
  /** The lowest OOM score adjustment possible on this host; -1000 without restrictions. */
  leastOomScore: number;
  /** Capabilities, such as `SYS_RESOURCE`, that no container can have here. */
  missingCapabilities: readonly string[];
  /** True if the engine enforces AppArmor profiles. */
  appArmor: boolean;
  /** True if the engine filters system calls. */
  seccomp: boolean;
  /** Absolute path of the folder with `Localhost` profiles. */
  seccompRoot: string;
  /** Sysctls that Pods may set in addition to the safe ones; a final `*` matches any suffix. */
  allowedUnsafeSysctls: readonly string[];
  /** Limit of processes per container; absent: unlimited. */
  podPidsLimit?: number;
  /** Restrictions by the host's owner; absent: none. */
  policy?: HostPolicy;
}

/** Settings of the host's owner. */
export type IsolationSettings = Pick<
  HostIsolation,
  'seccompRoot' | 'allowedUnsafeSysctls' | 'podPidsLimit' | 'policy'
>;

const LEAST_OOM_SCORE = -1000;

/**
 * Returns the isolation of this host. An engine not seen so far counts as fully capable; its own errors show what is
 * missing.
 */
export function hostIsolation(
  host: { memoryBytes: number; missingCapabilities: readonly string[] },
  engine: Pick<EngineInfo, 'appArmor' | 'seccomp' | 'rootless'> | undefined,
  settings: IsolationSettings,
): HostIsolation {
  const lowers = !host.missingCapabilities.includes('SYS_RESOURCE') && !engine?.rootless;
  return {
    ...settings,
    memoryBytes: host.memoryBytes,
    missingCapabilities: host.missingCapabilities,
    leastOomScore: lowers ? LEAST_OOM_SCORE : 0,
    appArmor: engine?.appArmor ?? true,
    seccomp: engine?.seccomp ?? true,
  };
}
