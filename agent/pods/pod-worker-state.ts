/** A worker's state of its Pod, as the decisions read it. The containers' local state is also on disk. */
import type {
  ContainerLocalState,
  EphemeralRecord,
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

  /** Records before its start that an ephemeral container runs its only time, and later how it ended. */
  recordEphemeral(id: string, record: EphemeralRecord): void {
    this.setLocalState(id, { ...this.localStateOf(id), ephemeral: record });
  }

  /** Drops the record of a container that was created, and removed before its start. */
  dropLocalState(id: string): void {
    delete this.progress.localStates[id];
  }

  /** Drops the state of containers that no longer exist, except that an ephemeral container was started. */
  prune(containers: readonly ObservedContainer[]): void {
    const present = new Set(containers.map(({ id }) => id));
    const { localStates, endBy, messages } = this.progress;
    for (const map of [localStates, endBy, messages]) {
      for (const id of Object.keys(map)) {
        if (!present.has(id) && !(map === localStates && localStates[id]?.ephemeral)) delete map[id];
      }
    }
  }

  /** Stops writing: the Pod's folder is being removed. */
  close(): void {
    this.#isClosed = true;
  }
}
