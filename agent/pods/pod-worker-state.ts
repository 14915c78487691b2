/** A worker's state of its Pod, as the decisions read it. The containers' local state is also on disk. */
import type {
  ContainerLocalState,
  ImageState,
  StepFailure,
  VolumesState,
} from '../decisions/pods/pod-view.js';
import type { ObservedContainer } from '../runtime/runtime-driver.js';
import type { PodFiles } from './pod-files.js';

export class PodWorkerState {
  readonly #files: PodFiles;
  readonly #podUid: string;
  #isClosed = false;

  readonly progress = {
    volumes: { kind: 'unprepared' } as VolumesState,
    images: {} as Record<string, ImageState>,
    stopping: {} as Record<string, number>,
    endBy: {} as Record<string, number>,
    failures: {} as Record<string, StepFailure>,
    localStates: {} as Record<string, ContainerLocalState>,
    messages: {} as Record<string, string>,
  };

  constructor(files: PodFiles, podUid: string) {
    this.#files = files;
    this.#podUid = podUid;
    this.progress.localStates = files.read(podUid);
  }

  localStateOf(id: string): ContainerLocalState {
    return this.progress.localStates[id] ?? {};
  }

  /** Stored on disk for the next agent, too. */
  setLocalState(id: string, state: ContainerLocalState): void {
    this.progress.localStates[id] = state;
    if (!this.#isClosed) this.#files.write(this.#podUid, this.progress.localStates);
  }

  /** Drops the state of containers that no longer exist. */
  prune(containers: readonly ObservedContainer[]): void {
    const present = new Set(containers.map(({ id }) => id));
    const { localStates, endBy, messages } = this.progress;
    for (const map of [localStates, endBy, messages]) {
      for (const id of Object.keys(map)) if (!present.has(id)) delete map[id];
    }
  }

  /** Stops writing: the Pod's folder is being removed. */
  close(): void {
    this.#isClosed = true;
  }
}
