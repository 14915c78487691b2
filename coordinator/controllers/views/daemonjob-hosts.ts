/** The hosts of a DaemonJob by state. Computed on request from the informers, without writes. */
import {
  type DaemonJob,
  type DaemonJobResult,
  daemonJobFinishedAs,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import {
  type DaemonJobHosts,
  type DaemonJobPreview,
  JOB_HOST_STATES,
  type JobHost,
  type JobHostState,
  type JobsOfHost,
} from '../../../shared/kube/fleet/daemonjob-host-types.js';
import { notFound } from '../../../shared/kube/objects/api-status.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { hostStep } from '../../decisions/daemonjobs/daemonjob-host.js';
import { resultName } from '../../decisions/daemonjobs/daemonjob-names.js';
import { attemptOf, isOwnedBy } from '../../decisions/daemonjobs/daemonjob-pod.js';
import { outcomeOf } from '../../decisions/daemonjobs/daemonjob-result.js';
import { startWaitOf } from '../../decisions/daemonjobs/host-start.js';
import { compilePlacement, whenOnline } from '../../decisions/placement/placement.js';
import { BY_OWNER, type Informers, PODS_BY_TARGET_NODE } from '../../informers/informer.js';
import { daemonJobKind } from '../../kinds/index.js';

/** Names in a preview. */
const MOST_NAMES = 20;
/** Jobs of one host. */
const MOST_JOBS = 20;

interface JobHostsQuery {
  /** [] selects all states. */
  states: readonly JobHostState[];
  /** Selects the hosts after this one. */
  after?: JobHostKey;
  limit: number;
  /** Selects this host alone. */
  node?: string;
  /** Adds the names of all hosts to the states. */
  withNames: boolean;
}

/** A host of a job, and where it is in the order: hosts that need an operator come first. */
interface JobHostKey {
  state: JobHostState;
  node: string;
}

interface DaemonJobHostViewDeps {
  informers: Pick<Informers, 'nodes' | 'pods' | 'daemonJobs' | 'daemonJobResults'>;
  clock: Clock;
}

/** The Pods and the result of one host. */
interface HostObjects {
  pods: Pod[];
  result?: DaemonJobResult;
}

export class DaemonJobHostView {
  readonly #deps: DaemonJobHostViewDeps;

  constructor(deps: DaemonJobHostViewDeps) {
    this.#deps = deps;
  }

  /** Visits all nodes in time slices. Throws 404. */
  async hostsOf(ref: ObjectRef, query: JobHostsQuery): Promise<DaemonJobHosts> {
    const job = this.#deps.informers.daemonJobs.get(ref);
    if (!job) throw notFound(daemonJobKind, ref.name);
    const objects = this.#objectsOf(job);
    const stateOf = this.#stateReader(job);
    const slice = new TimeSlice(this.#deps.clock);
    const byState = new Map<JobHostState, string[]>(JOB_HOST_STATES.map((state) => [state, []]));
    for (const name of this.#namesOf(job, objects)) {
      const state = stateOf(name, objects.get(name) ?? { pods: [] });
      if (state) byState.get(state)?.push(name);
      await slice.yieldIfUsedUp();
    }
    const { states, after, limit, withNames, node: only } = query;
    const present = [...byState].filter(([, nodes]) => nodes.length > 0);
    const selected = present
      .filter(([state]) => states.length === 0 || states.includes(state))
      .flatMap(([state, nodes]) => nodes.map((node) => ({ node, state })))
      .filter(({ node }) => only === undefined || node === only)
      .sort(inOrder);
    const left = after === undefined ? selected : selected.filter((host) => inOrder(host, after) > 0);
    const page = left.slice(0, limit);
    const last = page.at(-1);
    return {
      total: selected.length,
      states: present.map(([state, nodes]) => ({
        ...{ state, count: nodes.length },
        ...(withNames && { nodes: nodes.sort() }),
      })),
      hosts: page.map(({ node, state }) => rowOf(node, state, objects.get(node))),
      ...(last && left.length > page.length && { continue: `${last.state}/${last.node}` }),
    };
  }

  /** Visits all nodes in time slices. The job need not be stored. */
  async preview({ spec }: DaemonJob): Promise<DaemonJobPreview> {
    const placement = compilePlacement(spec.template.spec);
    const slice = new TimeSlice(this.#deps.clock);
    const eligible: string[] = [];
    let offline = 0;
    let hosts = 0;
    for (const node of this.#deps.informers.nodes.list()) {
      hosts += 1;
      await slice.yieldIfUsedUp();
      if (!placement(whenOnline(node)).shouldRun) continue;
      eligible.push(node.metadata.name);
      if (!isConditionTrue(node.status?.conditions, 'Ready')) offline += 1;
    }
    return { eligible: eligible.length, offline, hosts, nodes: eligible.sort().slice(0, MOST_NAMES) };
  }

  /** Visits the jobs that `isVisible` accepts, and only the objects of this host. */
  jobsOn(nodeName: string, isVisible: (job: DaemonJob) => boolean): JobsOfHost {
    const { daemonJobs, daemonJobResults, pods } = this.#deps.informers;
    const own = pods.indexed(PODS_BY_TARGET_NODE, nodeName);
    const found: { job: DaemonJob; row: JobHost }[] = [];
    for (const job of daemonJobs.list()) {
      if (!isVisible(job)) continue;
      const { namespace = '', name } = job.metadata;
      const result = daemonJobResults.get({ namespace, name: resultName(name, nodeName) });
      const objects = {
        pods: own.filter((pod) => isOwnedBy(pod, job)),
        ...(result && isOwnedBy(result, job) && { result }),
      };
      if (daemonJobFinishedAs(job) && !objects.result && objects.pods.length === 0) continue;
      const state = this.#stateReader(job)(nodeName, objects);
      if (state) found.push({ job, row: rowOf(nodeName, state, objects) });
    }
    found.sort((a, b) => (createdAt(a.job) < createdAt(b.job) ? 1 : -1));
    return {
      jobs: found.slice(0, MOST_JOBS).map(({ job: { metadata }, row }) => ({
        ...{ namespace: metadata.namespace ?? '', name: metadata.name, ...row },
      })),
      more: Math.max(0, found.length - MOST_JOBS),
    };
  }

  #objectsOf(job: DaemonJob): Map<string, HostObjects> {
    const { pods, daemonJobResults } = this.#deps.informers;
    const { uid = '' } = job.metadata;
    const found = new Map<string, HostObjects>();
    const at = (name: string) => {
      const known = found.get(name) ?? { pods: [] };
      found.set(name, known);
      return known;
    };
    for (const pod of pods.indexed(BY_OWNER, uid)) {
      const name = targetNodeOf(pod);
      if (name !== undefined && isOwnedBy(pod, job)) at(name).pods.push(pod);
    }
    for (const result of daemonJobResults.indexed(BY_OWNER, uid))
      if (isOwnedBy(result, job)) at(result.nodeName).result = result;
    return found;
  }

  /** Hosts that joined after the end are not part of a finished job. */
  #namesOf(job: DaemonJob, objects: ReadonlyMap<string, HostObjects>): Set<string> {
    const names = new Set(objects.keys());
    if (daemonJobFinishedAs(job)) return names;
    for (const { metadata } of this.#deps.informers.nodes.list()) names.add(metadata.name);
    return names;
  }

  /** States are those of the controller, except that a host that may start, or has its Pod ahead of time, counts as waiting. */
  #stateReader(job: DaemonJob): (name: string, objects: HostObjects) => JobHostState | undefined {
    const placement = compilePlacement(job.spec.template.spec);
    const isFinished = daemonJobFinishedAs(job) !== undefined;
    const [run, now] = [runOf(job), this.#deps.clock.now()];
    return (nodeName, { pods, result }) => {
      const node = this.#deps.informers.nodes.get({ name: nodeName });
      const { state } = hostStep(
        {
          ...{ nodeName, spec: job.spec, run, pods, end: undefined, isHeld: true },
          isEligible: !isFinished && node !== undefined && placement(whenOnline(node)).shouldRun,
          isOnline: isConditionTrue(node?.status?.conditions, 'Ready'),
          result: result && outcomeOf(result),
        },
        now,
      );
      if (state.kind === 'NotEligible') return undefined;
      return state.kind === 'Ready' || state.kind === 'Assigned' ? 'Waiting' : state.kind;
    };
  }
}

function inOrder(a: JobHostKey, b: JobHostKey): number {
  const severity = JOB_HOST_STATES.indexOf(a.state) - JOB_HOST_STATES.indexOf(b.state);
  return severity || (a.node === b.node ? 0 : a.node < b.node ? -1 : 1);
}

function createdAt({ metadata }: DaemonJob): string {
  return metadata.creationTimestamp ?? '';
}

function rowOf(node: string, state: JobHostState, objects: HostObjects | undefined): JobHost {
  const newest = objects?.pods.reduce<Pod | undefined>(
    (best, pod) => (best && attemptOf(best) > attemptOf(pod) ? best : pod),
    undefined,
  );
  const wait = state === 'Waiting' && newest ? startWaitOf(newest) : undefined;
  const pod = newest && {
    pod: newest.metadata.name,
    ...(wait?.reason !== undefined && { reason: wait.reason, message: wait.message ?? '' }),
  };
  if (!objects?.result || wait) return { node, state, ...pod };
  const { exitCode, reason, startTime, completionTime, attempts, message } = objects.result;
  return {
    ...{ node, state, attempts, ...pod },
    ...(exitCode !== undefined && { exitCode }),
    ...(reason !== undefined && { reason }),
    ...(startTime !== undefined && { startTime }),
    ...(completionTime !== undefined && { completionTime }),
    ...(message !== undefined && { message }),
  };
}
