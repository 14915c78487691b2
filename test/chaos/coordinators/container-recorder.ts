/**
 * Records the containers of hollow hosts, read from the state files of their engines and not from the agents. Each
 * change of a file is read.
 */
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { HollowState } from '../../../agent/runtime/hollow/hollow-state.js';

/** A container as its engine stores it. */
export interface RecordedContainer {
  readonly id: string;
  readonly host: string;
  /** Name of the container in its Pod's spec, which is the DaemonSet's name here. */
  readonly name: string;
  readonly image: string;
  readonly podUid: string;
  readonly attempt: number;
  /** Its start times, each once. */
  readonly starts: number[];
  /** Its state when the file was read last. `removed`: the file no longer contains it. */
  state: string;
}

export class ContainerRecorder {
  /** All containers that were ever seen, in order of their first reading. */
  readonly containers = new Map<string, RecordedContainer>();
  /** Violations that were visible at one time only. */
  readonly violations: string[] = [];
  /** Number of read states. */
  readings = 0;
  readonly #files: { readonly host: string; readonly file: string }[];
  readonly #watchers: FSWatcher[] = [];

  /** `dataDirs`: data directories of the agents, by host. */
  constructor(dataDirs: ReadonlyMap<string, string>) {
    this.#files = [...dataDirs].map(([host, dataDir]) => ({
      host,
      file: join(dataDir, 'hollow', 'state.json'),
    }));
  }

  /** The files must exist. */
  start(): void {
    for (const each of this.#files) {
      this.#read(each.host, each.file);
      this.#watchers.push(
        watch(join(each.file, '..'), (_, name) => {
          if (name === 'state.json') this.#read(each.host, each.file);
        }),
      );
    }
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  #read(host: string, file: string): void {
    const state = JSON.parse(readFileSync(file, 'utf8')) as HollowState;
    this.readings += 1;
    // The sandbox of a Pod has no name.
    const present = state.containers.filter(({ identity }) => identity.container !== '');
    for (const { id, identity, image, startedAt, state: engineState } of present) {
      const { container: name, podUid, attempt } = identity;
      const known = this.containers.get(id);
      const container = known ?? { id, host, name, image, podUid, attempt, starts: [], state: engineState };
      container.state = engineState;
      if (startedAt !== undefined && !container.starts.includes(startedAt)) container.starts.push(startedAt);
      if (!known) this.containers.set(id, container);
    }
    const ids = new Set(present.map(({ id }) => id));
    for (const each of this.containers.values())
      if (each.host === host && !ids.has(each.id)) each.state = 'removed';
    for (const name of new Set(present.map(({ identity }) => identity.container))) {
      const running = present.filter((each) => each.identity.container === name && each.state === 'running');
      if (running.length > 1)
        this.violations.push(`${running.length} Pods of ${name} ran at the same time on ${host}`);
    }
  }
}
