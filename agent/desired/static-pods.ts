/** Static Pods: what lies in the manifest directory runs on this host, with a coordinator or without. */
import type { MirrorPod } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { mirrorsOf } from '../decisions/static-pods/static-pod-mirrors.js';
import type { DesiredCache } from './desired-cache.js';
import type { ManifestDirectory } from './static-pod-directory.js';
import { readManifests } from './static-pod-files.js';

/** The directory is read so often even when nothing tells of a change (kubelet's fileCheckFrequency). */
const RESCAN_MS = 20_000;
/** An editor writes a file in several steps: they are one change. */
const SETTLE_MS = 200;

interface StaticPodsOptions {
  directory: ManifestDirectory;
  nodeName: string;
  cache: DesiredCache;
  /** Hears of uids to run and to end. */
  onChange: (set: string[], gone: string[]) => void;
  /** Hears of all static Pods of the host whenever one came or went. */
  onMirrors: (mirrors: MirrorPod[]) => void;
  clock: Clock;
  log: Logger;
}

export class StaticPods {
  readonly #parts: StaticPodsOptions;
  #watcher: { close(): void } | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  /** Something happened since the last look began. */
  #isOutdated = false;
  #isStopped = false;

  constructor(parts: StaticPodsOptions) {
    this.#parts = parts;
    parts.cache.onForget(() => this.#reportMirrors());
  }

  /** Takes in what is there; resolves when it stands in the cache. Changes are followed from then on. */
  async start(): Promise<void> {
    await this.#look();
    this.#reportMirrors();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#watcher?.close();
    await this.#looking;
  }

  /** Says which static Pods there are: one may have left. */
  #reportMirrors(): void {
    this.#parts.onMirrors(mirrorsOf([...this.#parts.cache.all()]));
  }

  /** Watches anew each time: the directory may be another one, or there at last. */
  async #look(): Promise<void> {
    this.#isOutdated = false;
    this.#watcher?.close();
    this.#watcher = this.#tryWatch();
    await this.#read();
    this.#lookIn(this.#isOutdated ? SETTLE_MS : RESCAN_MS);
  }

  #lookIn(delayMs: number): void {
    this.#timer?.cancel();
    if (this.#isStopped) return;
    this.#timer = this.#parts.clock.after(delayMs, () => {
      this.#looking = this.#look();
    });
  }

  async #read(): Promise<void> {
    const { directory, nodeName, cache, clock, log, onChange } = this.#parts;
    try {
      const manifests = await readManifests(directory, nodeName, clock.now(), log);
      const { set, gone } = cache.replaceStatic(manifests);
      if (set.length === 0 && gone.length === 0) return;
      log.info({ directory: directory.path, started: set.length, ended: gone.length }, 'static pods changed');
      onChange(set, gone);
      this.#reportMirrors();
    } catch (error) {
      log.warn(
        { directory: directory.path, err: error },
        'manifest directory cannot be read; what ran of it goes on',
      );
    }
  }

  /** Undefined while there is no such directory. */
  #tryWatch(): { close(): void } | undefined {
    try {
      return this.#parts.directory.watch(() => {
        this.#isOutdated = true;
        this.#lookIn(SETTLE_MS);
      });
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'manifest directory is not watched');
      return undefined;
    }
  }
}
