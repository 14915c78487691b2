/** Files that the agent keeps for a Pod besides its volumes: local state and termination messages of its containers. */
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

/** Local state by container id. */
type LocalStates = Record<string, ContainerLocalState>;

/** Storage of these files. `HostVolumes.remove` deletes it together with the Pod's folder. */
export interface PodFiles {
  read(podUid: string): LocalStates;
  write(podUid: string, localStates: LocalStates): void;
  /** Creates the file for a container's termination message. Returns its path; undefined if it cannot be created. */
  createMessageFile(identity: ContainerIdentity): string | undefined;
  /** Returns at most `maxBytes` of the container's termination message; '' without one. */
  readMessageFile(identity: ContainerIdentity, maxBytes: number): string;
  removeMessageFile(identity: ContainerIdentity): void;
}

/** Files below `DATA/pods/UID`. All calls are small and synchronous. */
export class FolderPodFiles implements PodFiles {
  readonly #root: string;

  constructor(dataDir: string) {
    this.#root = join(dataDir, 'pods');
  }

  /**
   * Returns the stored state. A hook that was running when the agent ended counts as not started; an unreadable file
   * counts as empty.
   */
  read(podUid: string): LocalStates {
    try {
      const localStates = JSON.parse(readFileSync(this.#statePath(podUid), 'utf8')) as LocalStates;
      for (const state of Object.values(localStates)) {
        if (state.postStart === 'begun') delete state.postStart;
        if (state.preStop === 'begun') delete state.preStop;
      }
      return localStates;
    } catch {
      // At worst a hook runs twice and a probe is repeated.
      return {};
    }
  }

  /**
   * Replaces the file atomically, which protects against the death of the agent. It is not synced: a dead host has no
   * containers left.
   */
  write(podUid: string, localStates: LocalStates): void {
    const path = this.#statePath(podUid);
    const text = JSON.stringify(localStates);
    try {
      mkdirSync(join(this.#root, podUid), { recursive: true });
      writeFileSync(`${path}.new`, text, { mode: 0o600 });
      countWrittenBytes(text);
      renameSync(`${path}.new`, path);
    } catch (error) {
      // Keep the Pod running if the file cannot be written; only a restarted agent knows less about it.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  createMessageFile(identity: ContainerIdentity): string | undefined {
    const path = this.#messagePath(identity);
    try {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, '', { flag: 'a' });
      // Any user of the container may write the file. The mode passed to `writeFileSync` is limited by the umask.
      chmodSync(path, 0o666);
      return path;
    } catch (error) {
      // Start the container without a termination message if the disk is full or read-only.
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
      // The file was removed, or never created.
      return '';
    }
  }

  removeMessageFile(identity: ContainerIdentity): void {
    try {
      rmSync(this.#messagePath(identity), { force: true });
    } catch (error) {
      // On a read-only disk the file remains until the Pod's folder is removed.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  #statePath(podUid: string): string {
    return join(this.#root, podUid, 'container-state.json');
  }

  #messagePath({ podUid, container, attempt }: ContainerIdentity): string {
    return join(this.#root, podUid, 'containers', container, String(attempt));
  }
}

/** For simulated hosts, which write no files. */
export const NO_POD_FILES: PodFiles = {
  read: () => ({}),
  write: () => undefined,
  createMessageFile: () => undefined,
  readMessageFile: () => '',
  removeMessageFile: () => undefined,
};
