/** Pulls images before containers need them: those that the coordinator lists, and those of a coming handover. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { imageRetryState } from '../decisions/images/image-backoff.js';
import { fullImageName } from '../decisions/images/image-name.js';
import type { Keyring } from '../decisions/images/registry-credentials.js';
import { RuntimeError } from '../runtime/runtime-driver.js';
import type { ImagePuller } from './image-puller.js';

/** An image name as in Pods, and the Pod's credentials. The host's own credentials are used as well. */
interface WantedImage {
  image: string;
  secrets?: readonly Keyring[];
}

/** An image that is not present yet, and the error of the last attempt. */
interface MissingImage {
  image: string;
  failure?: string;
}

interface Prefetch extends WantedImage {
  abort: AbortController;
  timer?: Timer;
  isHere: boolean;
  sizeBytes?: number;
  failure?: string;
  /** Owners that want the image, with their callbacks. */
  owners: Map<string, () => void>;
}

/** Owner of the coordinator's list. */
const NODE = 'node';

/** Each owner's newest list replaces its former one. Nothing is stored: after a restart, the lists arrive again. */
export class PrefetchedImages {
  readonly #images: Pick<ImagePuller, 'ensure'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #wanted = new Map<string, Prefetch>();
  #hasList = false;

  constructor(images: Pick<ImagePuller, 'ensure'>, clock: Clock, log: Logger) {
    this.#images = images;
    this.#clock = clock;
    this.#log = log;
  }

  /** Full names of all wanted images. They are not garbage collected. */
  names(): string[] {
    return [...this.#wanted.keys()].map(fullImageName);
  }

  /** Replaces the coordinator's list. An image without any owner is dropped. */
  prefetch(images: readonly string[], onChange: () => void = () => undefined): void {
    this.#hasList = true;
    this.prefetchFor(
      NODE,
      images.map((image) => ({ image })),
      onChange,
    );
  }

  /** Replaces the list of `owner`. `onChange` is called when one of its images was pulled, or could not be. */
  prefetchFor(owner: string, wanted: readonly WantedImage[], onChange: () => void): void {
    const names = new Set(wanted.map(({ image }) => image));
    for (const [image, entry] of this.#wanted) {
      if (names.has(image) || !entry.owners.delete(owner) || entry.owners.size > 0) continue;
      entry.abort.abort();
      entry.timer?.cancel();
      this.#wanted.delete(image);
    }
    for (const each of wanted) {
      const present = this.#wanted.get(each.image);
      if (present) {
        present.owners.set(owner, onChange);
        continue;
      }
      const owners = new Map([[owner, onChange]]);
      const entry: Prefetch = { ...each, abort: new AbortController(), isHere: false, owners };
      this.#wanted.set(each.image, entry);
      void this.#fetch(entry, 0);
    }
  }

  /** Returns the present images of the coordinator's list with their sizes, or undefined without a list. */
  present(): { image: string; sizeBytes?: number }[] | undefined {
    if (!this.#hasList) return undefined;
    const present = [...this.#wanted.values()].filter(({ owners, isHere }) => owners.has(NODE) && isHere);
    return present.map(({ image, sizeBytes }) => ({ image, ...(sizeBytes && { sizeBytes }) }));
  }

  /** Returns the images that `owner` still misses. */
  missing(owner: string): MissingImage[] {
    const wanted = [...this.#wanted.values()].filter(({ owners, isHere }) => owners.has(owner) && !isHere);
    return wanted.map(({ image, failure }) => ({ image, ...(failure !== undefined && { failure }) }));
  }

  stop(): void {
    for (const owner of new Set([...this.#wanted.values()].flatMap(({ owners }) => [...owners.keys()]))) {
      this.prefetchFor(owner, [], () => undefined);
    }
  }

  /** Retries with the back-off of a Pod's pull until the image is present or dropped. */
  async #fetch(entry: Prefetch, failures: number): Promise<void> {
    const { image, secrets, abort } = entry;
    try {
      const request = { image, pullPolicy: 'IfNotPresent', ...(secrets && { secrets }) } as const;
      const ensured = await this.#images.ensure(request, abort.signal, () =>
        this.#log.info({ image }, 'prefetching image'),
      );
      if (abort.signal.aborted) return;
      entry.isHere = true;
      entry.sizeBytes = ensured.image.sizeBytes;
      delete entry.failure;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#retry(entry, error, failures + 1);
    }
    for (const notify of entry.owners.values()) notify();
  }

  #retry(entry: Prefetch, error: unknown, failures: number): void {
    const { image } = entry;
    const { reason, message } =
      error instanceof RuntimeError ? error : { reason: 'ErrImagePull', message: String(error) };
    this.#log.warn({ image, reason, message }, 'failed to prefetch image; retrying');
    entry.failure = message;
    const now = this.#clock.now();
    const { retryAt } = imageRetryState(image, { reason, message, failedAt: now, failures }, now);
    entry.timer = this.#clock.after(retryAt - now, () => void this.#fetch(entry, failures));
  }
}
