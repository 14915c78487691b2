/** One Pod on this host: look, decide, do one thing, look again. It can be killed at any line and started anew. */
import { backoffMs } from '../../shared/kube/objects/backoff.js';
import type { HostPort } from '../../shared/kube/pods/host-ports.js';
import type { Timer } from '../../shared/process/time/clock.js';
import type { Rejection } from '../decisions/admission/pod-admission.js';
import { isCritical } from '../decisions/eviction/eviction-ranking.js';
import { confirmationOf } from '../decisions/handovers/assigned-pod-handover.js';
import { type AssignedPod, desiredPodState } from '../decisions/pods/assigned-pod.js';
import { podAddress } from '../decisions/pods/pod-address.js';
import { nextAction } from '../decisions/pods/pod-next-action.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import type { NextAction } from '../decisions/pods/pod-step-types.js';
import type { PodView } from '../decisions/pods/pod-view.js';
import type { ProbeKind } from '../decisions/probes/probe-state.js';
import { localStateAfterProbe, wantedProbes } from '../decisions/probes/wanted-probes.js';
import type { ObservedContainer } from '../runtime/runtime-driver.js';
import { PodProbes } from './pod-probe-runner.js';
import { PodReporter } from './pod-reporter.js';
import type { PodWorkerDeps } from './pod-worker-deps.js';
import { PodWorkerState } from './pod-worker-state.js';
import { isEngineDown } from './steps/engine-down.js';
import { PodSteps } from './steps/pod-steps.js';
import { terminationMessageOf } from './steps/termination-message.js';

/** After an error that is no refusal; doubles with each in a row. The engine's return wakes the worker sooner. */
const ERROR_RETRY = { firstMs: 500, maxMs: 30_000 };

/** What the workers of all Pods answer one of them. */
interface PodSiblings {
  /**
   * Resolves when the engine has told of the Pods that it alone knows: a cache that could not be written holds Pods whose successors
   * may be among them. Rejects as the driver does.
   */
  orphansKnown(): Promise<void>;
  /** Containers of another Pod of the same owner still run, which `gone` took or which the engine alone knows. */
  hasPredecessor(held: AssignedPod): boolean;
  /** Host ports of the Pods that were here before it and still run. */
  hostPortsInUse(held: AssignedPod): HostPort[];
  /** This host may not run the Pod. */
  onRejected(held: AssignedPod, rejection: Rejection): void;
  /** The Pod has run for its `activeDeadlineSeconds`. */
  onDeadline(held: AssignedPod): void;
  /** Containers and volumes of this Pod are gone. */
  onFinished(held: AssignedPod): void;
}

export class PodWorker {
  readonly #host: PodWorkerDeps;
  readonly #siblings: PodSiblings;
  readonly #abort = new AbortController();
  readonly #reporter: PodReporter;
  readonly #memory: PodWorkerState;
  readonly #steps: PodSteps;
  readonly #probes: PodProbes;
  #held: AssignedPod;
  #observed: ObservedContainer[] = [];
  /** The containers may differ from `#observed`. */
  #stale = true;
  /** `#observed` holds a container that no look has shown yet. */
  #isForeseen = false;
  /** Something changed since the last look. */
  #pending = false;
  #loop: Promise<void> | undefined;
  #timer: Timer | undefined;
  #errorsInARow = 0;
  /** Nothing of the Pod is left here, and that was said. */
  #isFinished = false;
  #turnWaiting: PodView['handoverWaiting'];

  constructor(assigned: AssignedPod, host: PodWorkerDeps, siblings: PodSiblings) {
    this.#held = assigned;
    this.#host = host;
    this.#siblings = siblings;
    this.#reporter = new PodReporter(host);
    this.#memory = new PodWorkerState(host.files, assigned.uid);
    this.#steps = new PodSteps(
      host,
      this.#reporter,
      this.#memory,
      (changed) => this.#changed(changed),
      this.#abort.signal,
    );
    this.#probes = new PodProbes(host, {
      onOutcome: (id, kind, outcome) => this.#onProbe(id, kind, outcome),
      onEvent: (event) => this.#reporter.event(this.#held.pod, event),
    });
  }

  /** It will not run any more: what it took of the host is free. */
  get isFinished(): boolean {
    return this.#reporter.isFinished || (this.#held.terminal !== undefined && !this.hasContainers);
  }

  /** The engine had something of it at the last look. */
  get hasContainers(): boolean {
    return this.#observed.length > 0;
  }

  get held(): AssignedPod {
    return this.#held;
  }

  /** The Pod as it is wanted from now on. */
  assign(held: AssignedPod): void {
    if (held.digest !== this.#held.digest) this.#steps.onContentChanged();
    this.#held = held;
    this.#poke();
  }

  /** Why the turn to replace the Pod has not begun. */
  setHandoverWaiting(waiting: PodView['handoverWaiting']): void {
    this.#turnWaiting = waiting;
    this.#poke();
  }

  /** Tells of the Pod what others decided. */
  emitEvent(event: PodEvent): void {
    this.#reporter.event(this.#held.pod, event);
  }

  /** Says again that the Pod has ended, if it has. */
  resendRemoved(): void {
    if (this.#isFinished) this.#reporter.removed(this.#held.pod);
  }

  /** A ConfigMap or Secret that the Pod names is there, another or gone. */
  onConfigChanged(): void {
    this.#steps.onContentChanged();
    this.#poke();
  }

  /** The engine says that something happened to its containers. */
  requestReconcile(): void {
    this.#stale = true;
    this.#poke();
  }

  /** Ends the worker and leaves the containers alone. Resolves when nothing of it is under way. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#timer?.cancel();
    this.#probes.stop();
    await this.#loop;
  }

  /** Work in the background is done. What it stopped must not be seen running, and be stopped once more. */
  #changed(what: 'engine' | 'memory'): void {
    if (what === 'engine') this.#stale = true;
    this.#poke();
  }

  #poke(): void {
    this.#pending = true;
    if (this.#abort.signal.aborted) return;
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
      // A call between the loop's last look and this line found a loop that was already over.
      if (this.#pending) this.#poke();
    });
  }

  async #run(): Promise<void> {
    // A burst of changes in one turn of the event loop is one look.
    await Promise.resolve();
    while (this.#pending && !this.#abort.signal.aborted) {
      this.#pending = false;
      this.#timer?.cancel();
      try {
        await this.#turn();
        this.#errorsInARow = 0;
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  async #turn(): Promise<void> {
    const held = this.#held;
    // Reset before the answer: what happens meanwhile asks for another look.
    while (this.#stale) {
      this.#stale = false;
      this.#isForeseen = false;
      this.#observed = await this.#look(held);
    }
    const containers = this.#observed;
    const view = this.#view(held, containers);
    const action = nextAction(view);
    if (this.#isForeseen && !this.#isAsForeseen(action)) return;
    if (!this.#isForeseen) this.#tell(held, view);
    this.#isForeseen = false;
    const podIP = podAddress(view, this.#host.facts().hostIP) ?? '';
    this.#probes.follow(wantedProbes(view), podIP);
    this.#host.log.debug({ uid: held.uid, name: held.pod.metadata.name, action }, 'next action');
    const effect = await this.#steps.perform(action, { held, containers, podIP });
    if (effect === 'engine') this.#stale = true;
    if (typeof effect === 'object') this.#foresee(effect.created);
    if (effect !== 'done') this.#pending = true;
    else this.#rest(held, action);
  }

  /** What was just made needs no look before it is started: on some engines that takes as long as the start itself. */
  #foresee(created: ObservedContainer): void {
    this.#observed = [...this.#observed, created];
    this.#isForeseen = true;
  }

  /** True for the start of what was foreseen. Anything else is decided by what the engine shows. */
  #isAsForeseen(action: NextAction): boolean {
    if (action.kind === 'start-container') return true;
    this.#stale = true;
    this.#pending = true;
    return false;
  }

  /** The containers as they are, and what the ended ones have left to read. */
  async #look(held: AssignedPod): Promise<ObservedContainer[]> {
    const containers = await this.#host.driver.inspectPod(held.uid);
    const { messages } = this.#memory.progress;
    for (const container of containers) {
      if (container.state !== 'exited' || messages[container.id] !== undefined) continue;
      messages[container.id] = await terminationMessageOf(this.#host, held.pod, container);
    }
    this.#memory.prune(containers);
    if (containers.length === 0) await this.#siblings.orphansKnown();
    return containers;
  }

  #onProbe(id: string, kind: ProbeKind, outcome: 'success' | 'failure'): void {
    const life = this.#memory.localStateOf(id);
    const next = localStateAfterProbe(life, kind, outcome, this.#host.clock.now());
    if (next === life) return;
    this.#memory.setLocalState(id, next);
    this.#poke();
  }

  #view(held: AssignedPod, containers: readonly ObservedContainer[]): PodView {
    const { bootMark, engineUpSince, isolation, pressures = [] } = this.#host.facts();
    const isNew = containers.length === 0;
    const { revert } = held.handover ?? {};
    const isConfirmed = confirmationOf(held);
    return {
      pod: held.pod,
      desired: desiredPodState(held),
      containers,
      progress: this.#memory.progress,
      now: this.#host.clock.now(),
      acceptedAt: held.acceptedAt,
      ...(held.startableAt !== undefined && { startableAt: held.startableAt }),
      bootMark,
      engineUpSince,
      isolation,
      // What the host cannot do without is let in, whatever it is short of.
      ...(isNew && !isCritical(held.pod, held.manifestFile !== undefined) && { pressures }),
      takenPorts: isNew ? this.#siblings.hostPortsInUse(held) : [],
      ...(held.terminal && { terminal: held.terminal }),
      // What runs goes on. What has ended may have done so before this host knew of the Pod before it: an old disk started that again.
      waitsForPredecessor:
        !containers.some(({ state }) => state === 'running') && this.#siblings.hasPredecessor(held),
      ...(isConfirmed !== undefined && { isConfirmed }),
      ...(this.#turnWaiting && { handoverWaiting: this.#turnWaiting }),
      ...(revert?.stage === 'back' && { reverted: { reason: revert.reason, message: revert.message } }),
    };
  }

  #tell(held: AssignedPod, view: PodView): void {
    // Containers that were removed would read as never started; what was said before stays true.
    const isRemoved = view.desired.kind === 'stop' && view.containers.length === 0;
    // What goes back ends only for a moment: told, its Pod would count as over.
    const isClearing = held.deadline === undefined && view.desired.kind === 'stop';
    if (!held.unassigned && !isRemoved && !isClearing) this.#reporter.status(view);
  }

  /** Nothing to do for now: until a time, until something happens, or for good. */
  #rest(held: AssignedPod, action: NextAction): void {
    this.#isFinished = action.kind === 'finish' && held.deadline !== undefined;
    if (action.kind === 'finish') {
      // One that goes back to its predecessor has only ended for a moment. Of one that is gone nothing is told: said late, it would be
      // taken for the end of the same Pod given again, as its Node's return does.
      if (held.deadline !== undefined && !held.unassigned) this.#reporter.removed(held.pod);
      this.#siblings.onFinished(held);
    }
    if (action.kind === 'exceed-deadline') this.#siblings.onDeadline(held);
    if (action.kind === 'reject') this.#siblings.onRejected(held, action.rejection);
    if (action.kind !== 'wait' || action.until === undefined) return;
    this.#wakeIn(action.until - this.#host.clock.now());
  }

  #onError(error: unknown): void {
    const { uid, pod } = this.#held;
    const level = isEngineDown(error) ? 'debug' : 'error';
    this.#host.log[level]({ uid, name: pod.metadata.name, err: error }, 'step failed; trying again');
    this.#stale = true;
    this.#wakeIn(backoffMs(this.#errorsInARow, ERROR_RETRY));
    this.#errorsInARow += 1;
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#host.clock.after(delayMs, () => this.#poke());
  }
}
