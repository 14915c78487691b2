/** What the agent keeps of a Pod beside its volumes: the lives of its containers, and their termination messages. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { countWrittenBytes } from '../../shared/process/files/private-file.js';
import type { ContainerLocalState } from '../decisions/pods/pod-view.js';
import type { ContainerIdentity } from '../runtime/runtime-driver.js';

/** By container id. */
type Lives = Record<string, ContainerLocalState>;

/** Where workers keep it; `Volumes.remove` takes it away with the Pod's folder. */
export interface PodFiles {
  read(podUid: string): Lives;
  write(podUid: string, lives: Lives): void;
  /** Makes the file into which a container may write its last words; answers its path, undefined where there are none. */
  createMessageFile(identity: ContainerIdentity): string | undefined;
  /** What the container wrote, at most `maxBytes` of it; '' when nothing. */
  readMessageFile(identity: ContainerIdentity, maxBytes: number): string;
  removeMessageFile(identity: ContainerIdentity): void;
}

/** Below `DATA/pods/UID`. All calls are small and synchronous. */
export class FolderPodFiles implements PodFiles {
  readonly #root: string;

  constructor(dataDir: string) {
    this.#root = join(dataDir, 'pods');
  }

  /** A hook that was under way with a former agent counts as never begun; a file that cannot be read as empty. */
  read(podUid: string): Lives {
    try {
      const lives = JSON.parse(readFileSync(this.#livesPath(podUid), 'utf8')) as Lives;
      for (const life of Object.values(lives)) {
        if (life.postStart === 'begun') delete life.postStart;
        if (life.preStop === 'begun') delete life.preStop;
      }
      return lives;
    } catch {
      // The worst that follows is a hook that is run once more, and a probe that is put again.
      return {};
    }
  }

  /** In one step, for the agent's death; a host's death takes the containers along. */
  write(podUid: string, lives: Lives): void {
    const path = this.#livesPath(podUid);
    const text = JSON.stringify(lives);
    try {
      mkdirSync(join(this.#root, podUid), { recursive: true });
      writeFileSync(`${path}.new`, text, { mode: 0o600 });
      countWrittenBytes(text);
      renameSync(`${path}.new`, path);
    } catch (error) {
      // A Pod is not stopped for it: the agent's next life may know less of this one.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  createMessageFile(identity: ContainerIdentity): string | undefined {
    const path = this.#messagePath(identity);
    try {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, '', { flag: 'a' });
      // Whichever user the container runs as; the mode of the write passes through the umask.
      chmodSync(path, 0o666);
      return path;
    } catch (error) {
      // A disk that takes no file for its last words keeps no container from running.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return undefined;
    }
  }

  readMessageFile(identity: ContainerIdentity, maxBytes: number): string {
    try {
      const file = openSync(this.#messagePath(identity), 'r');
      try {
        const bytes = Buffer.alloc(maxBytes);
        return bytes.subarray(0, readSync(file, bytes, 0, maxBytes, 0)).toString('utf8');
      } finally {
        closeSync(file);
      }
    } catch {
      // Gone, or of a container that an older agent made.
      return '';
    }
  }

  removeMessageFile(identity: ContainerIdentity): void {
    try {
      rmSync(this.#messagePath(identity), { force: true });
    } catch (error) {
      // On a disk that is read-only it stays, and goes with the Pod's folder.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  #livesPath(podUid: string): string {
    return join(this.#root, podUid, 'container-state.json');
  }

  #messagePath({ podUid, container, attempt }: ContainerIdentity): string {
    return join(this.#root, podUid, 'containers', container, String(attempt));
  }
}

/** Of pretended hosts, which leave nothing on a disk. */
export const NO_POD_FILES: PodFiles = {
  read: () => ({}),
  write: () => undefined,
  createMessageFile: () => undefined,
  readMessageFile: () => '',
  removeMessageFile: () => undefined,
};
