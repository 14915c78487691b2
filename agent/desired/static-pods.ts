/** Static Pods: manifests in a directory run on this host, with or without a coordinator. */
import type { MirrorPod } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { mirrorsOf } from '../decisions/static-pods/static-pod-manifest.js';
import type { DesiredCache } from './desired-cache.js';
import type { ManifestDirectory } from './static-pod-directory.js';
import { readManifests } from './static-pod-files.js';

/** Interval of scans without a change notification (kubelet's fileCheckFrequency). */
const RESCAN_MS = 20_000;
/** Debounce of change notifications, because editors write a file in several steps. */
const SETTLE_MS = 200;

interface StaticPodsOptions {
  directory: ManifestDirectory;
  nodeName: string;
  cache: DesiredCache;
  /** Receives the uids to run and to stop. */
  onChange: (set: string[], gone: string[]) => void;
  /** Receives all static Pods of the host after each change. */
  onMirrors: (mirrors: MirrorPod[]) => void;
  clock: Clock;
  log: Logger;
}

export class StaticPods {
  readonly #parts: StaticPodsOptions;
  #watcher: { close(): void } | undefined;
  #timer: Timer | undefined;
  #scanning: Promise<void> = Promise.resolve();
  /** True if something changed since the last scan began. */
  #isOutdated = false;
  #isStopped = false;

  constructor(parts: StaticPodsOptions) {
    this.#parts = parts;
    parts.cache.onForget(() => this.#reportMirrors());
  }

  /** Applies the present manifests; resolves when they are in the cache. Later changes are applied as they happen. */
  async start(): Promise<void> {
    await this.#scan();
    this.#reportMirrors();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#watcher?.close();
    await this.#scanning;
  }

  #reportMirrors(): void {
    this.#parts.onMirrors(mirrorsOf([...this.#parts.cache.all()]));
  }

  /** Watches again at each scan: the directory may have been created or replaced. */
  async #scan(): Promise<void> {
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
      this.#scanning = this.#scan();
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
        'manifest directory cannot be read; running static Pods are kept',
      );
    }
  }

  /** Returns undefined if the directory is missing. */
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
