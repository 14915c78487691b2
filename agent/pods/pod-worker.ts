/** Reconciles one Pod on this host: inspect, decide, perform one step, repeat. It survives being killed at any line. */
import { backoffMs } from '../../shared/kube/objects/backoff.js';
import type { Timer } from '../../shared/process/time/clock.js';
import { endedEphemerals } from '../decisions/containers/ephemeral-record.js';
import { type AssignedPod, isStopping, isUnassigned } from '../decisions/pods/assigned-pod.js';
import { nextAction } from '../decisions/pods/pod-next-action.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import type { NextAction } from '../decisions/pods/pod-step-types.js';
import type { PodView } from '../decisions/pods/pod-view.js';
import { podAddress } from '../decisions/pods/sandbox-need.js';
import type { DelayingLock } from '../decisions/pods/start-gate.js';
import type { ProbeKind } from '../decisions/probes/probe-state.js';
import { localStateAfterProbe, wantedProbes } from '../decisions/probes/wanted-probes.js';
import type { ObservedContainer } from '../runtime/runtime-driver.js';
import { JobRunRecord } from './job-run-record.js';
import { observedPodView } from './observed-pod-view.js';
import { PodProbes } from './pod-probe-runner.js';
import { PodReporter } from './pod-reporter.js';
import type { PodSiblings } from './pod-siblings.js';
import { overriddenLockEvent, PodStartGate, type StartingPod } from './pod-start-gate.js';
import type { PodWorkerDeps } from './pod-worker-deps.js';
import { PodWorkerState } from './pod-worker-state.js';
import { isEngineDown } from './steps/engine-attempts.js';
import { PodSteps } from './steps/pod-steps.js';
import { terminationMessageOf } from './steps/termination-message.js';

/** Delays after unexpected errors in a row. The engine's return wakes the worker sooner. */
const ERROR_RETRY = { firstMs: 500, maxMs: 30_000 };

export class PodWorker {
  readonly #deps: PodWorkerDeps;
  readonly #siblings: PodSiblings;
  readonly #abort = new AbortController();
  readonly #reporter: PodReporter;
  readonly #state: PodWorkerState;
  readonly #steps: PodSteps;
  readonly #probes: PodProbes;
  readonly #startGate: PodStartGate;
  readonly #jobRun: JobRunRecord;
  #assigned: AssignedPod;
  #observed: ObservedContainer[] = [];
  /** True if the containers may differ from `#observed`. */
  #isStale = true;
  /** True if `#observed` contains a created container that no inspection has shown. */
  #isPredicted = false;
  /** True if something changed since the last inspection. */
  #pending = false;
  #loop: Promise<void> | undefined;
  #timer: Timer | undefined;
  #errorsInARow = 0;
  /** True if nothing of the Pod is left and this was reported. */
  #isFinished = false;
  /** True once an inspection of this agent was reported. */
  #isInspected = false;
  #isAdmitted: boolean;
  #waitsForPredecessor = false;
  #waitsForStart = false;
  #handoverWaiting: PodView['handoverWaiting'];

  constructor(assigned: AssignedPod, deps: PodWorkerDeps, siblings: PodSiblings) {
    this.#assigned = assigned;
    // A reverted Pod runs again what the host admitted before.
    this.#isAdmitted = assigned.handover?.stage === 'reverted';
    this.#deps = deps;
    this.#siblings = siblings;
    this.#startGate = new PodStartGate(siblings);
    this.#jobRun = new JobRunRecord(deps.jobRuns);
    this.#reporter = new PodReporter(deps);
    this.#state = new PodWorkerState(deps.files, assigned.uid);
    this.#steps = new PodSteps(
      deps,
      this.#reporter,
      this.#state,
      (changed) => this.#changed(changed),
      this.#abort.signal,
    );
    this.#probes = new PodProbes(deps, {
      onOutcome: (id, kind, outcome) => this.#onProbe(id, kind, outcome),
      onEvent: (event) => this.#reporter.event(this.#assigned.pod, event),
      onResult: (container, kind, result) => {
        const { namespace = '', name: pod, uid: podUid = '' } = this.#assigned.pod.metadata;
        deps.reports.probed({ namespace, pod, podUid, container, kind, result });
      },
    });
  }

  /** Returns true if the Pod will not run again: its host ports are free. */
  get isFinished(): boolean {
    return this.#reporter.isFinished || (this.#assigned.terminal !== undefined && !this.hasContainers);
  }

  /** Returns true if this agent knows which containers the Pod has. */
  get isInspected(): boolean {
    return this.#isInspected;
  }

  /** Returns true if the host has accepted the Pod's requests: it counts against every new Pod. */
  get isAdmitted(): boolean {
    return this.#isAdmitted || this.hasContainers;
  }

  /** Returns true if a predecessor ran at the last reconciliation. */
  get waitsForPredecessor(): boolean {
    return this.#waitsForPredecessor;
  }

  /** Returns true if the Pod's time had not come at the last reconciliation: it uses nothing of the host. */
  get waitsForStart(): boolean {
    return this.#waitsForStart;
  }

  /** Returns true if the last inspection showed a container that runs or may have been started since. */
  get mayRun(): boolean {
    return this.#observed.some(({ state }) => state !== 'exited');
  }

  /** Returns true if the last inspection showed any container. */
  get hasContainers(): boolean {
    return this.#observed.length > 0;
  }

  get assigned(): AssignedPod {
    return this.#assigned;
  }

  /** Replaces the desired state of the Pod. */
  assign(assigned: AssignedPod): void {
    if (assigned.digest !== this.#assigned.digest) this.#steps.onContentChanged();
    this.#assigned = assigned;
    this.#wake();
  }

  /** Sets the reason why the Pod's handover has not started. */
  setHandoverWaiting(waiting: PodView['handoverWaiting']): void {
    this.#handoverWaiting = waiting;
    this.#wake();
  }

  emitEvent(event: PodEvent): void {
    this.#reporter.event(this.#assigned.pod, event);
  }

  /** Reports again that the Pod has ended, if it has. */
  resendRemoved(): void {
    if (this.#isFinished) this.#reporter.removed(this.#assigned.pod);
  }

  /** Reconciles after a ConfigMap or Secret of the Pod was added, changed or removed. */
  onConfigChanged(): void {
    this.#steps.onContentChanged();
    this.#wake();
  }

  /** Inspects the Pod again after an event of the engine. */
  requestReconcile(): void {
    this.#isStale = true;
    this.#wake();
  }

  /** Stops the worker but none of the containers. Resolves when no step is in progress. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#timer?.cancel();
    this.#probes.stop();
    await this.#loop;
  }

  /** Background work finished. Inspect again, so that a stopped container is not stopped a second time. */
  #changed(what: 'engine' | 'memory'): void {
    if (what === 'engine') this.#isStale = true;
    this.#wake();
  }

  #wake(): void {
    this.#pending = true;
    if (this.#abort.signal.aborted) return;
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
      // A change between the loop's last check and this line would be lost otherwise.
      if (this.#pending) this.#wake();
    });
  }

  async #run(): Promise<void> {
    // Merges changes of the same event loop turn into one reconciliation.
    await Promise.resolve();
    while (this.#pending && !this.#abort.signal.aborted) {
      this.#pending = false;
      this.#timer?.cancel();
      try {
        await this.#reconcileOnce();
        this.#errorsInARow = 0;
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  async #reconcileOnce(): Promise<void> {
    const assigned = this.#assigned;
    // Reset before the query: a change during the query requires another one.
    while (this.#isStale) {
      this.#isStale = false;
      this.#isPredicted = false;
      this.#observed = await this.#inspect(assigned);
    }
    const containers = this.#observed;
    let view = this.#view(assigned, containers, undefined);
    let action = nextAction(view);
    const asked = this.#startGate.queryLock(this.#starting(assigned, containers), view, action);
    if (asked) {
      const lock = await asked;
      if (this.#assigned !== assigned || this.#isStale) {
        // Nothing starts from facts that changed during the query.
        this.#pending = true;
        return;
      }
      view = this.#view(assigned, containers, lock);
      action = nextAction(view);
    }
    if (this.#isPredicted && !this.#isStartOfPredicted(action)) return;
    if (!this.#isPredicted) this.#report(assigned, view);
    this.#isInspected = true;
    this.#waitsForPredecessor = view.waitsForPredecessor;
    this.#waitsForStart = view.startGate?.kind === 'wait';
    // Before the next line that waits: two new Pods must not both count on the same resources.
    if (action.kind === 'admit') {
      this.#isAdmitted = true;
      const overridden = overriddenLockEvent(view);
      if (overridden) this.emitEvent(overridden);
    }
    this.#isPredicted = false;
    const podIP = podAddress(view, this.#deps.facts().hostIP) ?? '';
    this.#probes.follow(wantedProbes(view), podIP);
    this.#deps.log.debug({ uid: assigned.uid, name: assigned.pod.metadata.name, action }, 'next action');
    const effect = await this.#steps.perform(action, { assigned, containers, podIP });
    if (effect === 'engine') this.#isStale = true;
    if (typeof effect === 'object') this.#predict(effect.created);
    if (effect !== 'done') this.#pending = true;
    else await this.#settle(assigned, action);
  }

  /**
   * A created container is started without inspecting it first. On some engines an inspection takes as long as a start.
   */
  #predict(created: ObservedContainer): void {
    this.#observed = [...this.#observed, created];
    this.#isPredicted = true;
  }

  /** Returns true for the start of the created container. Any other action requires an inspection first. */
  #isStartOfPredicted(action: NextAction): boolean {
    if (action.kind === 'start-container') return true;
    this.#isStale = true;
    this.#pending = true;
    return false;
  }

  /** Returns the Pod's containers, after reading the termination messages of exited ones. */
  async #inspect(assigned: AssignedPod): Promise<ObservedContainer[]> {
    const containers = await this.#deps.driver.inspectPod(assigned.uid);
    const { messages } = this.#state.progress;
    for (const container of containers) {
      if (container.state !== 'exited' || messages[container.id] !== undefined) continue;
      messages[container.id] = await terminationMessageOf(this.#deps, assigned.pod, container);
    }
    this.#state.prune(containers);
    if (containers.length === 0) await this.#siblings.orphansKnown();
    return containers;
  }

  #onProbe(id: string, kind: ProbeKind, outcome: 'success' | 'failure'): void {
    const state = this.#state.localStateOf(id);
    const next = localStateAfterProbe(state, kind, outcome, this.#deps.clock.now());
    if (next === state) return;
    this.#state.setLocalState(id, next);
    this.#wake();
  }

  #view(
    assigned: AssignedPod,
    containers: readonly ObservedContainer[],
    lock: DelayingLock | undefined,
  ): PodView {
    const starting = this.#starting(assigned, containers);
    const pod = {
      ...starting,
      progress: this.#state.progress,
      gate: this.#startGate.gateOf(starting, lock),
      jobRun: this.#jobRun.stateOf(assigned),
      handoverWaiting: this.#handoverWaiting,
    };
    return observedPodView(pod, this.#siblings, this.#deps.facts(), this.#deps.clock.now());
  }

  #starting(assigned: AssignedPod, containers: readonly ObservedContainer[]): StartingPod {
    return { assigned, containers, isAdmitted: this.#isAdmitted };
  }

  #report(assigned: AssignedPod, view: PodView): void {
    this.#jobRun.onInspected(assigned, view);
    // Without its containers the Pod would look as if it had never started; the last reported status remains valid. A Pod
    // of a job has a record of its run. An agent that was killed may not have reported it, and the job would run again.
    const isRemoved = view.desired.kind === 'stop' && view.containers.length === 0 && !view.jobRun;
    // A reverting Pod stops only temporarily. If this were reported, the Pod would count as finished.
    const isClearing = !isStopping(assigned) && view.desired.kind === 'stop';
    if (isUnassigned(assigned) || isRemoved || isClearing) return;
    const ended = endedEphemerals(view, this.#deps.facts().engine);
    for (const [id, record] of ended) this.#state.recordEphemeral(id, record);
    this.#reporter.status(view);
    const phase = this.#reporter.finishedAs;
    if (phase) this.#jobRun.onFinalPhase(assigned, phase);
  }

  /** Waits for a time or an event after the last possible step. */
  async #settle(assigned: AssignedPod, action: NextAction): Promise<void> {
    this.#isFinished = action.kind === 'finish' && isStopping(assigned);
    if (action.kind === 'finish') {
      this.#jobRun.onRemoved(assigned);
      // A reverting Pod has stopped only temporarily. The end of an unassigned Pod is not reported: a late report could
      // be taken for the end of the same Pod assigned again after its Node returned.
      if (isStopping(assigned) && !isUnassigned(assigned)) this.#reporter.removed(assigned.pod);
      this.#siblings.onFinished(assigned);
    }
    if (action.kind === 'exceed-deadline') this.#siblings.onDeadline(assigned);
    if (action.kind === 'reject') this.#siblings.onRejected(assigned, action.rejection);
    if (action.kind === 'replace') {
      this.#siblings.replace(action.victims);
      this.#pending = true;
    }
    if (action.kind === 'preempt') {
      await this.#siblings.preempt(assigned, action.victims);
      this.#pending = true;
    }
    if (action.kind !== 'wait' || action.until === undefined) return;
    this.#wakeIn(action.until - this.#deps.clock.now());
  }

  #onError(error: unknown): void {
    const { uid, pod } = this.#assigned;
    const level = isEngineDown(error) ? 'debug' : 'error';
    this.#deps.log[level]({ uid, name: pod.metadata.name, err: error }, 'step failed; trying again');
    this.#isStale = true;
    this.#wakeIn(backoffMs(this.#errorsInARow, ERROR_RETRY));
    this.#errorsInARow += 1;
  }

  #wakeIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#deps.clock.after(delayMs, () => this.#wake());
  }
}
