/** Removes unused images when the disk fills (pkg/kubelet/images/image_gc_manager.go). */

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

/** The kubelet's ImageGCPeriod. */
const PERIOD_MS = 5 * 60_000;

interface ImageCollectorOptions {
  driver: Pick<RuntimeDriver, 'findImage' | 'removeImage' | 'imagesInUse'>;
  records: ImageRecords;
  thresholds: CollectionThresholds;
  /** Reads the usage of the disk that holds the engine's images. */
  disk: () => Promise<DiskUse>;
  /** Full names of images that must stay, also when no container uses them. */
  pinned: () => readonly string[];
  /** Emits a Warning Event of the Node. */
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

  /** Collects images periodically. If the engine does not respond, the next period retries. */
  start(): void {
    this.#timer = this.#options.clock.after(PERIOD_MS, () => void this.#round().finally(() => this.start()));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Removes images until the thresholds are met. Throws an Error when too few can be removed. */
  async collect(): Promise<void> {
    const disk = await this.#options.disk();
    if (disk.capacityBytes <= 0) {
      const message = `invalid capacity ${disk.capacityBytes} on image filesystem`;
      this.#options.warn('InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const images = await this.#collectable();
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

  /** Removes all unused images, for a host under disk pressure (DeleteUnusedImages). */
  async removeUnused(): Promise<void> {
    await this.#free(
      Number.POSITIVE_INFINITY,
      collectable(await this.#collectable(), this.#options.clock.now()),
    );
  }

  /** Like the kubelet, emits an Event only from the second failure in a row. */
  async #round(): Promise<void> {
    try {
      await this.collect();
      this.#failedBefore = false;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log.warn({ err: error }, 'image garbage collection failed');
      if (this.#failedBefore) this.#options.warn('ImageGCFailed', message);
      this.#failedBefore = true;
    }
  }

  /** Returns the images that this agent pulled and that still exist. */
  async #collectable(): Promise<CollectableImage[]> {
    const { driver, records, pinned, clock } = this.#options;
    const [used, now] = [await driver.imagesInUse(), clock.now()];
    const kept = new Set(pinned().map(sameForAnyMirror));
    const images: CollectableImage[] = [];
    const missing: string[] = [];
    for (const [name, record] of records.all()) {
      const found = await driver.findImage(name);
      if (!found) {
        missing.push(name);
        continue;
      }
      const isInUse = used.has(found.id) || kept.has(sameForAnyMirror(name));
      if (isInUse) records.recordUse(name, now);
      images.push({ name, id: found.id, ...record, sizeBytes: found.sizeBytes, isInUse });
    }
    await records.forget(missing);
    return images;
  }

  /** Returns the number of freed bytes. If an image cannot be removed, continues with the next one. */
  async #free(wanted: number, images: readonly CollectableImage[]): Promise<number> {
    const { driver, records, log } = this.#options;
    let freed = 0;
    for (const { name, id, sizeBytes } of images) {
      if (freed >= wanted) break;
      try {
        await driver.removeImage(name);
      } catch (error) {
        log.warn({ image: name, err: error }, 'failed to remove image');
        continue;
      }
      log.info({ image: name, bytes: sizeBytes }, 'removed image to free disk space');
      await records.forget([name]);
      // An image with other names stays on the disk.
      if (!(await driver.findImage(id))) freed += sizeBytes;
    }
    return freed;
  }
}

/** A digest identifies an image whichever registry it was pulled from. */
function sameForAnyMirror(name: string): string {
  return name.split('@')[1] ?? name;
}
