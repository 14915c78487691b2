/** Opens the log files of Pods if this host can provide them. */
import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, systemClock } from '../../shared/process/time/clock.js';
import { parseLogSize } from '../decisions/pod-logs/log-rotation.js';
import { PodLogFiles } from '../pod-logs/pod-log-files.js';
import type { AgentSettings } from '../program/agent-settings.js';

/** The kubelet's period of checks (`containerLogMonitorInterval`). */
const ROTATION_AGE_MS = 10_000;
/** Longer than the interval in which programs read files, often a second. */
const SETTLE_MS = 2_000;

type PodLogSettings = Pick<
  AgentSettings,
  'data' | 'podLogFiles' | 'podLogDirectory' | 'containerLogMaxSize' | 'containerLogMaxFiles'
>;

/** Returns undefined if the setting is off, for a hollow engine, and where this process has no permission. */
export function openPodLogs(
  settings: PodLogSettings,
  engine: string,
  clock: Clock,
  log: Logger,
): PodLogFiles | undefined {
  if (settings.podLogFiles === 'off' || engine === 'hollow') return undefined;
  const directory = settings.podLogDirectory;
  const why = whyNoPodLogs(directory);
  if (why !== undefined) {
    const text = 'log programs find no files of Pods on this host; kubectl logs is not affected';
    log.warn({ directory, why, setting: '--pod-log-files off hides this warning' }, text);
    return undefined;
  }
  return new PodLogFiles({
    directory,
    format: engine === 'podman' ? 'k8s-file' : 'json-file',
    limits: {
      maxBytes: parseLogSize(settings.containerLogMaxSize),
      maxFiles: settings.containerLogMaxFiles,
      leastAgeMs: ROTATION_AGE_MS,
      settleMs: SETTLE_MS,
    },
    dataDir: settings.data,
    clock,
    wallClock: systemClock,
    log,
  });
}

/** Only root can read the logs of an engine. */
function whyNoPodLogs(directory: string): string | undefined {
  if (userInfo().uid !== 0) return 'the agent does not run as root';
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
