/** Reads the host's policy file at each start and reload. An invalid file prevents the start. */

import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { readIfPresent } from '../../shared/process/files/private-file.js';
import type { IsolationSettings } from '../decisions/admission/host-isolation.js';
import { type HostPolicy, parseHostPolicy } from '../decisions/admission/host-policy.js';
import type { AgentSettings } from './agent-settings.js';

/** Default path of the restrictions by the host's owner. */
const DEFAULT_POLICY = '/etc/everynode/policy.yaml';

/** Resolves with the policy; undefined if the default file is missing. Throws `ExitError`. */
export async function readHostPolicy(
  settings: Pick<AgentSettings, 'policy'>,
): Promise<HostPolicy | undefined> {
  const { policy: path = DEFAULT_POLICY } = settings;
  const isNamed = settings.policy !== undefined;
  try {
    const text = await readIfPresent(path);
    if (text === undefined && !isNamed) return undefined;
    if (text === undefined) throw new Error('there is no such file');
    // Loaded on demand: a tenth of the start and 3 MB, which most hosts have no use for.
    const { parse } = await import('yaml');
    return parseHostPolicy(parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ExitError(EXIT_CODES.usage, `The policy ${path} cannot be used: ${why}.`);
  }
}

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
