/** Runs the probes of one Pod's containers, each at its own period, with a single timer. */
import type { Timer } from '../../shared/process/time/clock.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import {
  afterResult,
  firstState,
  type ProbeKind,
  type ProbeResult,
  type ProbeState,
  probeEvent,
} from '../decisions/probes/probe-state.js';
import type { WantedProbe } from '../decisions/probes/wanted-probes.js';
import type { PodWorkerDeps } from './pod-worker-deps.js';

interface RunningProbe {
  wanted: WantedProbe;
  state: ProbeState;
  isUnderWay: boolean;
}

interface ProbeListener {
  /** Called when a probe reached its success or failure threshold; may repeat an outcome. */
  onOutcome(id: string, kind: ProbeKind, outcome: NonNullable<ProbeState['outcome']>): void;
  onEvent(event: PodEvent): void;
  /** Called with each result. */
  onResult(container: string, kind: ProbeKind, result: ProbeResult['kind']): void;
}

export class PodProbes {
  readonly #deps: Pick<PodWorkerDeps, 'handlers' | 'clock'>;
  readonly #listener: ProbeListener;
  /** By container id and probe kind. */
  readonly #probes = new Map<string, RunningProbe>();
  #podIP = '';
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(deps: Pick<PodWorkerDeps, 'handlers' | 'clock'>, listener: ProbeListener) {
    this.#deps = deps;
    this.#listener = listener;
  }

  /** Runs exactly these probes from now on. A probe that was already running keeps its schedule. */
  follow(wanted: readonly WantedProbe[], podIP: string): void {
    this.#podIP = podIP;
    const now = this.#deps.clock.now();
    const keys = new Set(wanted.map(keyOf));
    for (const key of this.#probes.keys()) if (!keys.has(key)) this.#probes.delete(key);
    for (const one of wanted) {
      const present = this.#probes.get(keyOf(one));
      if (present) present.wanted = one;
      else {
        const state = firstState(one.probe, one.startedAt, now, one.known);
        this.#probes.set(keyOf(one), { wanted: one, state, isUnderWay: false });
      }
    }
    this.#arm();
  }

  /** Stops all probes and ignores results of probes in flight. */
  stop(): void {
    this.#probes.clear();
    this.#arm();
  }

  #arm(): void {
    const waiting = [...this.#probes.values()].filter(({ isUnderWay }) => !isUnderWay);
    const at = Math.min(...waiting.map(({ state }) => state.nextAt));
    if (at === this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = Number.isFinite(at)
      ? this.#deps.clock.after(Math.max(at - this.#deps.clock.now(), 0), () => this.#putDue())
      : undefined;
  }

  #putDue(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#deps.clock.now();
    for (const [key, probe] of this.#probes) {
      if (!probe.isUnderWay && probe.state.nextAt <= now) void this.#put(key, probe);
    }
    this.#arm();
  }

  async #put(key: string, running: RunningProbe): Promise<void> {
    const { kind, probe, container, id } = running.wanted;
    running.isUnderWay = true;
    const result = await this.#deps.handlers.probe(probe, { id, container, podIP: this.#podIP });
    // The container or the Pod ended during the probe: drop the result.
    if (this.#probes.get(key) !== running) return;
    running.isUnderWay = false;
    running.state = afterResult(probe, running.state, result, this.#deps.clock.now());
    this.#listener.onResult(container.name, kind, result.kind);
    const event = probeEvent(kind, result);
    if (event) this.#listener.onEvent({ ...event, container: container.name });
    if (running.state.outcome) this.#listener.onOutcome(id, kind, running.state.outcome);
    this.#arm();
  }
}

function keyOf({ id, kind }: WantedProbe): string {
  return `${id} ${kind}`;
}
