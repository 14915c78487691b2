/** Images that this host is to have before any Pod asks for them, as the coordinator lists them. */
import type { Clock, Timer } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import { imageBackoff } from '../decisions/image-backoff.js';
import { fullImageName } from '../decisions/image-name.js';
import { RuntimeError } from '../runtime/driver.js';
import type { Images } from './images.js';

interface Holding {
  abort: AbortController;
  timer?: Timer;
}

/** Level-triggered: the newest list is what holds, and losing it costs a look. */
export class HeldImages {
  readonly #images: Pick<Images, 'ensure'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #held = new Map<string, Holding>();

  constructor(images: Pick<Images, 'ensure'>, clock: Clock, log: Logger) {
    this.#images = images;
    this.#clock = clock;
    this.#log = log;
  }

  /** Full names of the images that are held: they are not collected. */
  names(): string[] {
    return [...this.#held.keys()].map(fullImageName);
  }

  /** The images to hold from now on, as Pods would name them. One that is named no more is let go of. */
  hold(images: readonly string[]): void {
    for (const [image, { abort, timer }] of this.#held) {
      if (images.includes(image)) continue;
      abort.abort();
      timer?.cancel();
      this.#held.delete(image);
    }
    for (const image of images) {
      if (this.#held.has(image)) continue;
      const holding = { abort: new AbortController() };
      this.#held.set(image, holding);
      void this.#fetch(image, holding, 0);
    }
  }

  stop(): void {
    this.hold([]);
  }

  /** Again with the back-off of a Pod's pull, until it is here or let go of. */
  async #fetch(image: string, holding: Holding, failures: number): Promise<void> {
    try {
      await this.#images.ensure({ image, pullPolicy: 'IfNotPresent' }, holding.abort.signal, () =>
        this.#log.info({ image }, 'pulling an image ahead of its pods'),
      );
    } catch (error) {
      if (holding.abort.signal.aborted) return;
      const { reason, message } =
        error instanceof RuntimeError ? error : { reason: 'ErrImagePull', message: String(error) };
      this.#log.warn({ image, reason, message }, 'image not pulled ahead; trying again');
      const now = this.#clock.now();
      const failed = { reason, message, failedAt: now, failures: failures + 1 };
      const { retryAt } = imageBackoff(image, failed, now);
      holding.timer = this.#clock.after(retryAt - now, () => void this.#fetch(image, holding, failures + 1));
    }
  }
}
