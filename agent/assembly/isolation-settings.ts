/** Isolation settings of containers, from the host's settings and its owner's policy. */
import { join } from 'node:path';
import type { IsolationSettings } from '../decisions/admission/host-isolation.js';
import type { HostPolicy } from '../decisions/admission/host-policy.js';
import type { AgentSettings } from '../program/agent-settings.js';

/** `policy`: absent if the owner wrote none. */
export function isolationSettingsOf(
  settings: Pick<AgentSettings, 'data' | 'allowedUnsafeSysctls' | 'podMaxPids'>,
  policy: HostPolicy | undefined,
): IsolationSettings {
  const { data, allowedUnsafeSysctls, podMaxPids } = settings;
  return {
    seccompRoot: join(data, 'seccomp'),
    allowedUnsafeSysctls,
    ...(podMaxPids > 0 ? { podPidsLimit: podMaxPids } : {}),
    ...(policy ? { policy } : {}),
  };
}
