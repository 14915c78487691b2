/** Connects pressure measurement, reclaiming, and evictions. */
import { parseGoDuration } from '../../shared/kube/objects/go-duration.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { deadContainers } from '../decisions/containers/container-attempts.js';
import {
  type PressureReadings,
  type Threshold,
  thresholdsOf,
} from '../decisions/eviction/eviction-thresholds.js';
import type { NodeStatusReporter } from '../node/node-status-reporter.js';
import { readPressureSignals } from '../node/pressure-readings.js';
import { measurePods } from '../pods/eviction/pod-usage-measurement.js';
import { PressureWatch } from '../pods/eviction/pressure-watch.js';
import type { PodSource, PodVolumes } from '../pods/pod-worker-deps.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import type { AgentSettings } from '../program/agent-settings.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';

/** Thresholds of pressure and how it is measured. */
export interface PressureHandling {
  thresholds: readonly Threshold[];
  transitionMs: number;
  softGraceSeconds: number;
  /** `imageDir`: the engine's image directory; undefined while unknown. */
  readSignals: (imageDir: string | undefined) => Promise<PressureReadings>;
}

/** Returns the handling for the host's settings. Throws `ExitError` for a soft threshold without grace period. */
export function pressureHandling(settings: AgentSettings): PressureHandling {
  try {
    return {
      thresholds: thresholdsOf(settings),
      transitionMs: parseGoDuration(settings.evictionPressureTransitionPeriod) ?? 0,
      softGraceSeconds: settings.evictionMaxPodGracePeriod,
      readSignals: (imageDir) => readPressureSignals(settings.data, imageDir),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `--eviction-soft: ${why}; set --eviction-soft-grace-period.`);
  }
}

interface AgentPressureOptions {
  handling: PressureHandling;
  driver: RuntimeDriver;
  volumes: PodVolumes;
  pods: Pick<PodSource, 'all'>;
  workers: PodWorkers;
  node: NodeStatusReporter;
  /** Removes unused images; absent if none are collected. */
  removeUnusedImages?: () => Promise<void>;
  /** Emits a Warning Event about the Node. */
  warn: (reason: string, message: string) => void;
  clock: Clock;
  log: Logger;
}

/** Returns the component that checks the host periodically and frees scarce resources. */
export function createAgentPressure(options: AgentPressureOptions): Component {
  const { handling, driver, node, pods, clock, warn } = options;
  const log = options.log.child({ component: 'pressure' });
  const watch = new PressureWatch({
    ...handling,
    read: () => handling.readSignals(node.engine?.rootDir),
    pods,
    workers: options.workers,
    reclaim: async () => {
      await removeDead(options);
      await options.removeUnusedImages?.();
    },
    measure: (assigned, resource) => measurePods(options, assigned, resource),
    isGone: async (uid) => (await driver.inspectPod(uid)).length === 0,
    onPressures: (pressures) => node.setPressures(pressures),
    warn,
    clock,
    log,
  });
  return { name: 'pressure', start: () => watch.start(), stop: () => watch.stop() };
}

async function removeDead({ driver, pods }: AgentPressureOptions): Promise<void> {
  const over = new Set(
    [...pods.all()].flatMap(({ uid, terminal: termination }) => (termination ? [uid] : [])),
  );
  for (const id of deadContainers(await driver.list(), (uid) => over.has(uid))) await driver.remove(id);
}
