/** What a host and its engine can and may do to keep Pods apart, as plain data. */
import type { EngineInfo } from '../../runtime/runtime-driver.js';
import type { HostPolicy } from './host-policy.js';

export interface HostIsolation {
  /** Memory of the host in bytes: what a request is a share of. */
  memoryBytes: number;
  /** The lowest OOM score adjustment that a container can be given here; -1000 where nothing is in the way. */
  leastOomScore: number;
  /** Capabilities, such as `SYS_RESOURCE`, that no container can have here. */
  missingCapabilities: readonly string[];
  /** The engine enforces AppArmor profiles. */
  appArmor: boolean;
  /** The engine filters system calls. */
  seccomp: boolean;
  /** Folder of the profiles that `Localhost` names, absolute. */
  seccompRoot: string;
  /** Sysctls that Pods may set beside the safe ones; `*` at the end stands for any rest. */
  allowedUnsafeSysctls: readonly string[];
  /** Processes that each container may have; absent = any number. */
  podPidsLimit?: number;
  /** What the host's owner lets no Pod do; absent = nothing is forbidden. */
  policy?: HostPolicy;
}

/** What the host's owner decides. */
export type IsolationSettings = Pick<
  HostIsolation,
  'seccompRoot' | 'allowedUnsafeSysctls' | 'podPidsLimit' | 'policy'
>;

const LEAST_OOM_SCORE = -1000;

/** Of an engine that was never seen the best is assumed: what it lacks it says itself when asked. */
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
