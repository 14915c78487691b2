/** The images of a hollow engine, and simulated pulls. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../shared/process/time/clock.js';
import { RuntimeError } from '../runtime-driver.js';
import type { ImageBehaviour } from './image-behaviours.js';

interface HollowImagesOptions {
  clock: Clock;
  behaviourOf(image: string): ImageBehaviour;
  /** Names of the images that exist from the start. */
  images: Iterable<string>;
  onChange: () => void;
}

export class HollowImages {
  readonly #options: HollowImagesOptions;
  readonly #images: Set<string>;
  readonly #pulling = new Set<string>();

  constructor(options: HollowImagesOptions) {
    this.#options = options;
    this.#images = new Set(options.images);
  }

  names(): string[] {
    return [...this.#images];
  }

  has(image: string): boolean {
    return this.#images.has(image);
  }

  isPulling(image: string): boolean {
    return this.#pulling.has(image);
  }

  /** Takes the time that the image's behaviour defines. Stops when `signal` aborts. */
  async pull(image: string, signal: AbortSignal): Promise<void> {
    const { afterMs = 0, error } = this.#options.behaviourOf(image).pull ?? {};
    this.#pulling.add(image);
    if (afterMs > 0) await this.#wait(afterMs, signal);
    this.#pulling.delete(image);
    if (signal.aborted) throw new RuntimeError('ErrImagePull', 'the pull was cancelled', true);
    if (error) throw new RuntimeError(error.reason, `${image}: ${error.message}`, false);
    this.add(image);
  }

  add(image: string): void {
    this.#images.add(image);
    this.#options.onChange();
  }

  remove(image: string): void {
    this.#images.delete(image);
    this.#options.onChange();
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = this.#options.clock.after(ms, done);
      signal.addEventListener('abort', done);
    });
  }
}

/** Size of every image of a hollow engine. */
export const HOLLOW_IMAGE_BYTES = 10_000_000;

/**
 * User of every image of a hollow engine. It is numeric and not root: many charts set `runAsNonRoot` and rely on the
 * user of their image, and a Pod of such a chart would never start.
 */
export const HOLLOW_IMAGE_USER = '65532';

/** Derives an image id from the name. */
export function hollowImageID(image: string): string {
  return `sha256:${createHash('sha256').update(image).digest('hex')}`;
}
