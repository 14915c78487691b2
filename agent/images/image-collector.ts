/** Removes images that nobody uses when the disk fills (pkg/kubelet/images/image_gc_manager.go). */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import {
  bytesToFree,
  type CollectableImage,
  type CollectionThresholds,
  collectable,
  type DiskUse,
} from '../decisions/images/image-collection.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import type { ImageRecords } from './image-records.js';

/** As a kubelet's ImageGCPeriod. */
const PERIOD_MS = 5 * 60_000;

interface ImageCollectorOptions {
  driver: Pick<RuntimeDriver, 'findImage' | 'removeImage' | 'imagesInUse'>;
  records: ImageRecords;
  thresholds: CollectionThresholds;
  /** Of the disk that holds the engine's images. */
  disk: () => Promise<DiskUse>;
  /** Full names of images that must stay whether a container has them or not. */
  pinned: () => readonly string[];
  /** A Warning about the node. */
  warn: (reason: string, message: string) => void;
  clock: Clock;
  log: Logger;
}

export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  #timer: Timer | undefined;
  #failedBefore = false;

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
  }

  /** Looks at the disk now and then; an engine that does not answer is asked the next time. */
  start(): void {
    this.#timer = this.#options.clock.after(PERIOD_MS, () => void this.#round().finally(() => this.start()));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** One look: removes as much as the thresholds ask for. Throws an Error when that cannot be had. */
  async collect(): Promise<void> {
    const disk = await this.#options.disk();
    if (disk.capacityBytes <= 0) {
      const message = `invalid capacity ${disk.capacityBytes} on image filesystem`;
      this.#options.warn('InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const images = await this.#look();
    const wanted = bytesToFree(disk, this.#options.thresholds);
    if (wanted <= 0) return;
    const freed = await this.#free(wanted, collectable(images, this.#options.clock.now()));
    if (freed >= wanted) return;
    const message =
      'Failed to garbage collect required amount of images. ' +
      `Attempted to free ${wanted} bytes, but only found ${freed} bytes eligible to free.`;
    this.#options.warn('FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  /** Removes every image that nobody uses, as a host does that is short of disk (DeleteUnusedImages). */
  async removeUnused(): Promise<void> {
    await this.#free(Number.POSITIVE_INFINITY, collectable(await this.#look(), this.#options.clock.now()));
  }

  /** A kubelet says so only from the second failure in a row on. */
  async #round(): Promise<void> {
    try {
      await this.collect();
      this.#failedBefore = false;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ err: error }, 'images not collected');
      if (this.#failedBefore) this.#options.warn('ImageGCFailed', message);
      this.#failedBefore = true;
    }
  }

  /** Those that this agent brought here and that are still here. */
  async #look(): Promise<CollectableImage[]> {
    const { driver, records, pinned, clock } = this.#options;
    const [used, now] = [await driver.imagesInUse(), clock.now()];
    const kept = new Set(pinned().map(sameForAnyMirror));
    const images: CollectableImage[] = [];
    const gone: string[] = [];
    for (const [name, record] of records.all()) {
      const found = await driver.findImage(name);
      if (!found) {
        gone.push(name);
        continue;
      }
      const isInUse = used.has(found.id) || kept.has(sameForAnyMirror(name));
      if (isInUse) records.recordUse(name, now);
      images.push({ name, id: found.id, ...record, sizeBytes: found.sizeBytes, isInUse });
    }
    await records.forget(gone);
    return images;
  }

  /** Answers how many bytes went. One that cannot be removed leaves its turn to the next. */
  async #free(wanted: number, images: readonly CollectableImage[]): Promise<number> {
    const { driver, records, log } = this.#options;
    let freed = 0;
    for (const { name, id, sizeBytes } of images) {
      if (freed >= wanted) break;
      try {
        await driver.removeImage(name);
      } catch (error) {
        log.warn({ image: name, err: error }, 'image not removed');
        continue;
      }
      log.info({ image: name, bytes: sizeBytes }, 'image removed to free the disk');
      await records.forget([name]);
      // It may have other names, and stay by them.
      if (!(await driver.findImage(id))) freed += sizeBytes;
    }
    return freed;
  }
}

/** A digest says which image is meant, whichever registry it came from. */
function sameForAnyMirror(name: string): string {
  return name.split('@')[1] ?? name;
}
