/** Reports one Pod: its status when it changed, and Events with the kubelet's messages. */
import { toTimestamp } from '../../shared/kube/objects/meta.js';
import type { Pod, PodStatus } from '../../shared/kube/pods/pod-types.js';
import { podStatus } from '../decisions/pods/agent-pod-status.js';
import { lostRunPhase } from '../decisions/pods/lost-job-run.js';
import { containerRole } from '../decisions/pods/pod-containers.js';
import { type PodEvent, statusEvents } from '../decisions/pods/pod-status-events.js';
import type { PodView } from '../decisions/pods/pod-view.js';
import type { PodWorkerDeps } from './pod-worker-deps.js';

export class PodReporter {
  readonly #deps: PodWorkerDeps;
  #reported: PodStatus | undefined;
  #reportedText = '';

  constructor(deps: PodWorkerDeps) {
    this.#deps = deps;
  }

  /** Returns true if the last reported phase is final. */
  get isFinished(): boolean {
    return this.finishedAs !== undefined;
  }

  get finishedAs(): 'Succeeded' | 'Failed' | undefined {
    const phase = this.#reported?.phase;
    return phase === 'Succeeded' || phase === 'Failed' ? phase : undefined;
  }

  /** Reports the Pod's status as the view shows it, unless it equals the last report. */
  status(view: PodView): void {
    const { pod } = view;
    // Keep the container statuses of an evicted Pod after its containers were removed.
    if (view.terminal && view.containers.length === 0 && this.#reported?.phase === 'Failed') return;
    // Keep those of a job's Pod whose containers were pruned: the coordinator may not have counted its end.
    if (this.isFinished && !view.terminal && lostRunPhase(view)) return;
    const { engine, hostIP } = this.#deps.facts();
    const status = podStatus(view, {
      engine,
      ...(hostIP ? { hostIP } : {}),
      ...(this.#reported ? { previous: this.#reported } : {}),
    });
    const text = JSON.stringify(status);
    if (text === this.#reportedText) return;
    for (const event of statusEvents(pod, this.#reported, status)) this.event(pod, event);
    this.#reported = status;
    this.#reportedText = text;
    const { uid = '', namespace = '', name } = pod.metadata;
    this.#deps.reports.putPod({ uid, namespace, name, status });
  }

  event(pod: Pod, event: PodEvent): void {
    const { uid = '', namespace = '', name } = pod.metadata;
    const now = toTimestamp(this.#deps.clock.now());
    this.#deps.reports.putEvent({
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        uid,
        namespace,
        name,
        ...(event.container ? { fieldPath: fieldPath(pod, event.container) } : {}),
      },
      type: event.type,
      reason: event.reason,
      message: event.message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
    });
  }

  removed(pod: Pod): void {
    const { uid = '', namespace = '', name } = pod.metadata;
    this.#deps.reports.putRemoved({ uid, namespace, name });
  }
}

/** pkg/kubelet/container/ref.go */
function fieldPath(pod: Pod, container: string): string {
  return `spec.${LISTS[containerRole(pod, container)]}{${container}}`;
}

const LISTS = {
  init: 'initContainers',
  sidecar: 'initContainers',
  main: 'containers',
  ephemeral: 'ephemeralContainers',
} as const;
