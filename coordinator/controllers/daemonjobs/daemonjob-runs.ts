/** What the controller remembers of each DaemonJob: the tally of its hosts, and compiled rules of its spec. */
import { isDeepStrictEqual } from 'node:util';
import {
  type DaemonJob,
  type DaemonJobResult,
  type DaemonJobStatus,
  daemonJobFinishedAs,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { HostView } from '../../decisions/daemonjobs/daemonjob-host.js';
import { resultName } from '../../decisions/daemonjobs/daemonjob-names.js';
import { isOwnedBy } from '../../decisions/daemonjobs/daemonjob-pod.js';
import { countsResults, outcomeOf } from '../../decisions/daemonjobs/daemonjob-result.js';
import { runEnd } from '../../decisions/daemonjobs/daemonjob-step.js';
import {
  compileLockOverride,
  compileWindows,
  type HostStart,
  hostStart,
  type WindowsOf,
  withUpdateLock,
  withWindows,
} from '../../decisions/daemonjobs/host-start.js';
import {
  compilePlacement,
  type PlacementNode,
  type PlacementVerdict,
  whenOnline,
} from '../../decisions/placement/placement.js';
import { BY_OWNER, PODS_BY_TARGET_NODE } from '../../informers/informer.js';
import { CreateGate } from '../daemonsets/create-gate.js';
import { WindowIndex } from '../rollouts/window-index.js';
import { DaemonJobBackoffs } from './daemonjob-backoffs.js';
import type { DaemonJobDeps } from './daemonjob-deps.js';
import { hostKey } from './daemonjob-keys.js';
import { DaemonJobTally } from './daemonjob-tally.js';
import { hostsBetween, planWaves, storedWave, type WavePlan } from './daemonjob-wave-plan.js';

/** The rules of one version of the spec. A changed spec, policy or run starts a new one. */
export interface JobRun {
  readonly generation: number | undefined;
  readonly isFinished: boolean;
  readonly policy: RolloutPolicy | undefined;
  readonly tally: DaemonJobTally;
  readonly placement: (node: PlacementNode) => PlacementVerdict;
  /** Returns the user who overrides the update locks of a host, and the reason. */
  readonly forcedBy: (nodeName: string) => string | undefined;
  /** Undefined: hosts start at any time. */
  readonly windows: WindowIndex | undefined;
  /** The windows that hosts may know ahead of time. Undefined: there are none. */
  readonly windowsOf: WindowsOf | undefined;
  /** Undefined: all hosts start at once. */
  readonly waves: WavePlan | undefined;
  /** Index of the last wave whose hosts may start. -1: none. */
  openUpTo: number;
  readonly gate: CreateGate;
  /** Time of the last write of the status, on the monotonic clock. */
  statusAt: number;
}

export class DaemonJobRuns {
  readonly #deps: DaemonJobDeps;
  readonly #runs = new Map<string, JobRun>();
  /** For each settled job the status that counts its results. */
  readonly #settled = new Map<string, DaemonJobStatus>();
  readonly #wake: (key: string) => void;
  readonly #backoffs: DaemonJobBackoffs;

  /** `wake` queues the key of a host. */
  constructor(deps: DaemonJobDeps, wake: (key: string) => void) {
    this.#deps = deps;
    this.#wake = wake;
    this.#backoffs = new DaemonJobBackoffs(deps.clock);
  }

  /**
   * True for a finished job whose results are counted, and which has not changed since the start. It needs no tally. The
   * results are counted once for a status, not for every event of the job.
   */
  isSettled(job: DaemonJob): boolean {
    const { uid = '', generation } = job.metadata;
    const { status } = job;
    if (
      !status ||
      daemonJobFinishedAs(job) === undefined ||
      job.spec.ttlSecondsAfterFinished !== undefined ||
      status.observedGeneration !== generation ||
      this.#runs.has(uid)
    )
      return false;
    const counted = this.#settled.get(uid);
    if (counted && isDeepStrictEqual(counted, status)) return true;
    const results = this.#deps.informers.daemonJobResults.indexed(BY_OWNER, uid);
    const isSettled = countsResults(
      status,
      results.filter((result) => isOwnedBy(result, job)),
    );
    if (isSettled) this.#settled.set(uid, status);
    return isSettled;
  }

  /** Counts the results of the owner again when its job is next reconciled. */
  resultChanged(result: DaemonJobResult): void {
    this.#settled.delete(controllerOf(result.metadata)?.uid ?? '');
  }

  /** The next reconcile starts the run again from stored objects. */
  forget(uid: string): void {
    this.#runs.delete(uid);
  }

  /** For a job that is deleted. */
  remove(uid: string): void {
    this.#runs.delete(uid);
    this.#settled.delete(uid);
    this.#backoffs.forget(uid);
  }

  /** Returns the run of the job's current spec. A new one queues all its hosts. */
  of(job: DaemonJob): JobRun {
    const { uid = '', generation, namespace = '' } = job.metadata;
    const { rolloutPolicyName: name } = job.spec;
    const isFinished = daemonJobFinishedAs(job) !== undefined;
    const policy =
      name === undefined ? undefined : this.#deps.informers.rolloutPolicies.get({ namespace, name });
    const known = this.#runs.get(uid);
    if (known && known.generation === generation && (isFinished || known.policy === policy)) return known;
    const run = this.#start(job, policy, isFinished);
    this.#runs.set(uid, run);
    return run;
  }

  #start(job: DaemonJob, policy: RolloutPolicy | undefined, isFinished: boolean): JobRun {
    const { clock } = this.#deps;
    const names = this.#namesOf(job, isFinished);
    if (job.spec.rolloutPolicyName !== undefined && !policy && !isFinished) this.#reportMissingPolicy(job);
    const { windows = [], freezes = [] } = policy?.spec ?? {};
    for (const name of names) this.#wake(hostKey(job, name));
    const placement = compilePlacement(job.spec.template.spec);
    const isEligible = (node: Node) => placement(whenOnline(node)).shouldRun;
    const waves =
      policy && !isFinished
        ? planWaves(job, policy, this.#deps.informers.nodes.list(), isEligible)
        : undefined;
    return {
      generation: job.metadata.generation,
      isFinished,
      policy,
      tally: new DaemonJobTally(names, runEnd(job, clock.now()), waves),
      placement,
      forcedBy: compileLockOverride(job),
      waves,
      openUpTo: waves && policy ? storedWave(job, policy) : -1,
      windows: windows.length + freezes.length > 0 ? new WindowIndex({ windows, freezes }) : undefined,
      windowsOf: windows.length + freezes.length > 0 ? compileWindows({ windows, freezes }) : undefined,
      gate: new CreateGate(clock, this.#wake),
      statusAt: Number.NEGATIVE_INFINITY,
    };
  }

  /** Opens waves up to this one. Returns the hosts whose wave has opened or closed. */
  openWaves(run: JobRun, openUpTo: number): string[] {
    const { waves, openUpTo: before } = run;
    if (!waves || before === openUpTo) return [];
    run.openUpTo = openUpTo;
    return hostsBetween(waves, this.#deps.informers.nodes.list(), before, openUpTo);
  }

  #reportMissingPolicy(job: DaemonJob): void {
    const text = `No host starts: RolloutPolicy "${job.spec.rolloutPolicyName}" not found`;
    this.#deps.recordEvent(job, 'Warning', 'RolloutPolicyNotFound', text);
  }

  /** Returns all nodes of a running job. Those of a finished job are the ones with a result or a Pod. */
  #namesOf(job: DaemonJob, isFinished: boolean): Set<string> {
    const { uid = '' } = job.metadata;
    const { nodes, pods, daemonJobResults } = this.#deps.informers;
    const names = new Set<string>();
    if (!isFinished) for (const node of nodes.list()) names.add(node.metadata.name);
    for (const result of daemonJobResults.indexed(BY_OWNER, uid))
      if (isOwnedBy(result, job)) names.add(result.nodeName);
    for (const pod of pods.indexed(BY_OWNER, uid))
      if (isOwnedBy(pod, job)) names.add(targetNodeOf(pod) ?? '');
    names.delete('');
    return names;
  }

  /** Returns the stored result of a host, or undefined. */
  resultOf(job: DaemonJob, nodeName: string): DaemonJobResult | undefined {
    const found = this.#namedResult(job, nodeName);
    // A result of a deleted job of the same name describes other Pods.
    return found && isOwnedBy(found, job) ? found : undefined;
  }

  /** Returns an object that has the name of the host's result and is not the job's. */
  foreignResult(job: DaemonJob, nodeName: string): DaemonJobResult | undefined {
    const found = this.#namedResult(job, nodeName);
    return found && !isOwnedBy(found, job) ? found : undefined;
  }

  #namedResult({ metadata: { namespace = '', name } }: DaemonJob, nodeName: string) {
    return this.#deps.informers.daemonJobResults.get({ namespace, name: resultName(name, nodeName) });
  }

  /** Returns everything on which the decision for a host depends. */
  viewOf(job: DaemonJob, run: JobRun, nodeName: string): HostView {
    const { nodes, pods } = this.#deps.informers;
    const node = nodes.get({ name: nodeName });
    const result = this.resultOf(job, nodeName);
    const now = this.#deps.clock.now();
    const own = pods.indexed(PODS_BY_TARGET_NODE, nodeName).filter((pod: Pod) => isOwnedBy(pod, job));
    const planned = hostStart(job, node?.metadata.labels);
    const known = planned === 'skipped' ? undefined : planned;
    const ahead = node && isAhead(job) ? aheadOfWindow(run, known, node, now) : undefined;
    return {
      nodeName,
      spec: job.spec,
      run: runOf(job),
      // A host that joins after the end has missed nothing.
      isEligible:
        !daemonJobFinishedAs(job) &&
        planned !== 'skipped' &&
        node !== undefined &&
        run.placement(whenOnline(node)).shouldRun,
      isOnline: node !== undefined && this.isOnline(node),
      isHeld: this.#isHeld(job, run, node, ahead !== undefined),
      start: withUpdateLock(ahead ?? known, run.policy?.spec, run.forcedBy(nodeName)),
      pods: own,
      result: result && outcomeOf(result),
      waitedMs: this.#backoffs.waitedMs(job, nodeName, result),
      end: run.tally.end,
    };
  }

  /** True if the host can start a Pod that it gets now, and nothing that it did before is unknown. */
  isOnline({ status, metadata }: Node): boolean {
    const { restoredEpoch } = this.#deps;
    const isKnown =
      restoredEpoch === undefined || metadata.annotations?.[RESYNCED_IN_EPOCH] === restoredEpoch;
    return isKnown && isConditionTrue(status?.conditions, 'Ready');
  }

  #isHeld(
    { spec }: DaemonJob,
    { policy, windows, waves, openUpTo }: JobRun,
    node: Node | undefined,
    knowsWindows: boolean,
  ): boolean {
    if (spec.suspend || !node) return true;
    if (spec.rolloutPolicyName === undefined) return false;
    if (!policy || policy.spec.paused || policy.spec.frozen) return true;
    if (waves && waves.waveOf(node.metadata.name) > openUpTo) return true;
    if (!windows) return false;
    windows.put(node.metadata.name, node.metadata.labels, this.#deps.clock.now());
    return !knowsWindows && windows.hoursOf(node.metadata.name)?.replace !== true;
  }
}

/** With limited slots, hosts whose window is closed must not keep others from starting. */
function isAhead({ spec }: DaemonJob): boolean {
  return (spec.parallelism ?? '100%') === '100%';
}

/** Returns the start with the host's windows, so that it starts in one of them also while it is offline. */
function aheadOfWindow(
  { windowsOf }: JobRun,
  start: HostStart | undefined,
  { metadata: { labels } }: Node,
  now: number,
): HostStart | undefined {
  return windowsOf && withWindows(start, windowsOf(labels, now));
}
