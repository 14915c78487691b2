/** Records the events of a step by watches that are opened before it. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { CoordinatorApi, RecordedWatch } from '../../harness/api/coordinator-api.js';
import { podsOfSet, type Snapshot } from './cluster-snapshot.js';

export interface PodEvent {
  type: string;
  pod: Pod;
  at: number;
}

interface SetEvent {
  type: string;
  daemonSet: DaemonSet;
  at: number;
}

/** The events of a step, in order. */
export class StepRecording {
  readonly #pods: RecordedWatch;
  readonly #sets: RecordedWatch;

  private constructor(pods: RecordedWatch, sets: RecordedWatch) {
    this.#pods = pods;
    this.#sets = sets;
  }

  /** Starts right after the snapshot. */
  static async start(api: CoordinatorApi, { resourceVersion }: Snapshot): Promise<StepRecording> {
    const [pods, sets] = await Promise.all([
      api.watch('/api/v1/namespaces/default/pods', resourceVersion),
      api.watch('/apis/apps/v1/namespaces/default/daemonsets', resourceVersion),
    ]);
    return new StepRecording(pods, sets);
  }

  podEvents(set: string): PodEvent[] {
    return this.#pods.events
      .map(({ type, object, at }) => ({ type, pod: object as unknown as Pod, at }))
      .filter(({ pod }) => podsOfSet([pod], set).length > 0);
  }

  setEvents(set: string): SetEvent[] {
    return this.#sets.events
      .map(({ type, object, at }) => ({ type, daemonSet: object as unknown as DaemonSet, at }))
      .filter(({ daemonSet }) => daemonSet.metadata.name === set);
  }

  close(): void {
    this.#pods.close();
    this.#sets.close();
  }
}
