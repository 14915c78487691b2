/**
 * Evicts Pods while the host is short of memory, disk or processes (pkg/kubelet/eviction). It reports the pressure,
 * removes unused containers and images, and then evicts one Pod after another. It works without a coordinator.
 */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { isCritical } from '../../decisions/admission/pod-priority.js';
import { evictionMessage } from '../../decisions/eviction/eviction-message.js';
import { type EvictionCandidate, rankForEviction } from '../../decisions/eviction/eviction-ranking.js';
import {
  evictionGraceSeconds,
  type Observations,
  type Pressure,
  type PressureReadings,
  resourceOf,
  type StarvedResource,
  type Threshold,
} from '../../decisions/eviction/eviction-thresholds.js';
import {
  evaluatePressure,
  isMet,
  NO_PRESSURE,
  type PressureHistory,
} from '../../decisions/eviction/pressure-state.js';
import { type AssignedPod, isStopping } from '../../decisions/pods/assigned-pod.js';
import { EVICTED } from '../../decisions/pods/pod-view.js';
import type { PodSource } from '../pod-worker-deps.js';
import type { PodWorkers } from '../pod-workers.js';

/** Same interval as the kubelet's eviction manager. */
const PERIOD_MS = 10_000;
/** Interval of checks whether an evicted Pod is gone. */
const CLEANUP_POLL_MS = 1_000;
/** Extra time after the grace period before the next eviction; a kubelet starts this timeout after the Pod's end. */
const CLEANUP_MS = 30_000;

interface PressureWatchOptions {
  thresholds: readonly Threshold[];
  /** How long a condition stays True after its cause ended, ms. */
  transitionMs: number;
  /** Longest grace period of a soft eviction, seconds; negative: the Pod's own grace period. */
  softGraceSeconds: number;
  read: () => Promise<PressureReadings>;
  pods: Pick<PodSource, 'all'>;
  workers: Pick<PodWorkers, 'terminate'>;
  /** Frees unused data that takes up this resource. */
  reclaim: (resource: StarvedResource) => Promise<void>;
  /** Returns the usage of the Pods with running containers, limited to what this resource needs. */
  measure: (pods: readonly AssignedPod[], resource: StarvedResource) => Promise<EvictionCandidate[]>;
  /** Resolves with true once the engine has nothing of the Pod any longer. */
  isGone: (uid: string) => Promise<boolean>;
  /** Receives the conditions that are True, at each change. */
  onPressures: (pressures: readonly Pressure[]) => void;
  /** Emits a Warning Event about the Node. */
  warn: (reason: string, message: string) => void;
  clock: Clock;
  log: Logger;
}

export class PressureWatch {
  readonly #options: PressureWatchOptions;
  #state: PressureHistory = NO_PRESSURE;
  #pressures: readonly Pressure[] = [];
  #evicting: { uid: string; lateAt: number } | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: PressureWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Checks once and evicts at most one Pod. Resolves with the time until the next check, ms. */
  async check(): Promise<number> {
    if (await this.#isCleaningUp()) return CLEANUP_POLL_MS;
    const { thresholds, transitionMs, clock, read } = this.#options;
    const readings = await read();
    const { observations } = readings;
    const now = clock.monotonic();
    const { history: state, pressures } = evaluatePressure(
      this.#state,
      thresholds,
      observations,
      now,
      transitionMs,
    );
    this.#state = state;
    this.#report(pressures, observations);
    const [first] = state.due;
    if (!first || !(await this.#reclaim(first, readings))) return PERIOD_MS;
    return CLEANUP_POLL_MS;
  }

  #report(pressures: readonly Pressure[], observations: Observations): void {
    if (pressures.join() === this.#pressures.join()) return;
    this.#pressures = pressures;
    const { log, onPressures } = this.#options;
    log.info({ pressures, left: Object.fromEntries(observations) }, 'pressure on this host changed');
    onPressures(pressures);
  }

  /** Resolves with true if a Pod was evicted. */
  async #reclaim(threshold: Threshold, readings: PressureReadings): Promise<boolean> {
    const { warn, reclaim, read, thresholds, log } = this.#options;
    const resource = resourceOf(threshold.signal);
    warn('EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    if (resource === 'ephemeral-storage' || resource === 'inodes') {
      await reclaim(resource).catch((error: unknown) => log.warn({ err: error }, 'nothing was reclaimed'));
      const { observations } = await read();
      if (!thresholds.some((each) => isMet(each, observations, true))) return false;
    }
    return this.#evictOne(threshold, resource, readings);
  }

  async #evictOne(
    threshold: Threshold,
    resource: StarvedResource,
    { observations, hasImageFs }: PressureReadings,
  ): Promise<boolean> {
    const { pods, measure, workers, softGraceSeconds, clock, log } = this.#options;
    const assigned = [...pods.all()].filter((assigned) => !isStopping(assigned) && !assigned.terminal);
    const statics = new Set(
      assigned.flatMap(({ uid, manifestFile: manifest }) => (manifest === undefined ? [] : [uid])),
    );
    const ranked = rankForEviction(await measure(assigned, resource), threshold.signal, resource, hasImageFs);
    for (const candidate of ranked) {
      const { uid, pod } = candidate;
      if (isCritical(pod, statics.has(uid))) {
        log.info({ uid, name: pod.metadata.name }, 'a critical pod is not evicted');
        continue;
      }
      const message = evictionMessage(candidate, resource, this.#state.due, observations);
      const graceSeconds = evictionGraceSeconds(threshold, pod.spec, softGraceSeconds);
      log.warn({ uid, name: pod.metadata.name, message }, 'evicting a pod');
      const end = { reason: EVICTED, message, graceSeconds, isDisruption: true as const };
      workers.terminate(uid, end, { type: 'Warning', reason: EVICTED, message });
      this.#evicting = { uid, lateAt: clock.monotonic() + graceSeconds * 1000 + CLEANUP_MS };
      return true;
    }
    log.warn({ resource, pods: assigned.length }, 'no pod can be evicted from this host');
    return false;
  }

  /**
   * Resolves with true while the last evicted Pod still stops. Its resources are free only then, so no second Pod is
   * evicted before.
   */
  async #isCleaningUp(): Promise<boolean> {
    const evicting = this.#evicting;
    if (!evicting) return false;
    const { clock, isGone } = this.#options;
    const isLate = clock.monotonic() >= evicting.lateAt;
    if (!isLate && !(await isGone(evicting.uid))) return true;
    this.#evicting = undefined;
    return false;
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.after(delayMs, () => void this.#round());
  }

  async #round(): Promise<void> {
    let delayMs = PERIOD_MS;
    try {
      delayMs = await this.check();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'pressure on this host not measured');
    }
    this.#schedule(delayMs);
  }
}
