/** Images by pull policy, one pull per image at a time whoever asks (pkg/kubelet/images). */
import type { Clock } from '../../shared/process/clock.js';
import { defaultPullPolicy, fullImageName } from '../decisions/image-name.js';
import { type RuntimeDriver, RuntimeError } from '../runtime/driver.js';

/** What came of asking for an image. */
export type EnsuredImage = { kind: 'present' } | { kind: 'pulled'; tookMs: number };

interface Pull {
  done: Promise<void>;
  abort: AbortController;
  waiting: number;
}

/** One for the whole agent: it knows which pulls are under way, and nothing else. */
export class Images {
  readonly #driver: Pick<RuntimeDriver, 'findImage' | 'pull'>;
  readonly #clock: Clock;
  readonly #pulls = new Map<string, Pull>();

  constructor(driver: Pick<RuntimeDriver, 'findImage' | 'pull'>, clock: Clock) {
    this.#driver = driver;
    this.#clock = clock;
  }

  /**
   * Resolves when the engine has the image as the policy asks. `onPull` is called before a pull that this call waits for.
   * Throws `RuntimeError`: ErrImageNeverPull, or what the driver says of the pull. An abort leaves the pull to others who wait.
   */
  async ensure(
    image: string,
    pullPolicy: string | undefined,
    signal: AbortSignal,
    onPull: () => void,
  ): Promise<EnsuredImage> {
    const name = fullImageName(image);
    const policy = pullPolicy ?? defaultPullPolicy(image);
    if (policy !== 'Always') {
      if (await this.#driver.findImage(name)) return { kind: 'present' };
      if (policy === 'Never') {
        const message = `Container image "${image}" is not present with pull policy of Never`;
        throw new RuntimeError('ErrImageNeverPull', message, false);
      }
    }
    onPull();
    const startedAt = this.#clock.monotonic();
    await this.#join(name, signal);
    return { kind: 'pulled', tookMs: this.#clock.monotonic() - startedAt };
  }

  /** Waits for the pull under way, or starts it; the last one to leave stops it. */
  async #join(name: string, signal: AbortSignal): Promise<void> {
    const pull = this.#pulls.get(name) ?? this.#begin(name);
    pull.waiting += 1;
    try {
      await Promise.race([pull.done, rejectOnAbort(signal, pull.abort.signal)]);
    } finally {
      pull.waiting -= 1;
      if (pull.waiting === 0) this.#end(name, pull);
    }
  }

  #begin(name: string): Pull {
    const abort = new AbortController();
    const done = this.#driver.pull({ image: name, signal: abort.signal });
    const pull = { done, abort, waiting: 0 };
    this.#pulls.set(name, pull);
    // A pull that everyone left fails with nobody to tell.
    done.catch(() => undefined).finally(() => this.#forget(name, pull));
    return pull;
  }

  #end(name: string, pull: Pull): void {
    pull.abort.abort();
    this.#forget(name, pull);
  }

  /** A later pull of the same name is another one and stays. */
  #forget(name: string, pull: Pull): void {
    if (this.#pulls.get(name) === pull) this.#pulls.delete(name);
  }
}

/** Rejects when `signal` aborts; stops listening when `until` does. */
function rejectOnAbort(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(new RuntimeError('ErrImagePull', 'the pull was cancelled', true));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: until });
  });
}
