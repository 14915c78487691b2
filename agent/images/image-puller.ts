/** Pulls images as the pull policy asks, with at most one pull per image at a time (pkg/kubelet/images). */
import { imageNameError } from '../../shared/kube/pods/image-syntax.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { defaultPullPolicy, fullImageName, hasDigest, pullNames } from '../decisions/images/image-name.js';
import { goDuration } from '../decisions/images/pulled-message.js';
import { credentialsFor, type Keyring, type RegistryAuth } from '../decisions/images/registry-credentials.js';
import {
  type EngineImage,
  type PullRequest,
  type RuntimeDriver,
  RuntimeError,
} from '../runtime/runtime-driver.js';
import { PullQueue } from './pull-queue.js';
import type { RegistrySettings } from './registry-settings.js';

/** An image of the engine. */
export interface LocalImage extends EngineImage {
  /** The engine's name for it. Differs from the Pod's if a mirror provided the image by its digest. */
  name: string;
}

/** Result of `ensure`. Times are ms: of the pull alone, and including the wait in the queue. */
type EnsuredImage =
  | { kind: 'present'; image: LocalImage }
  | { kind: 'pulled'; image: LocalImage; pullMs: number; totalMs: number };

interface ImageRequest {
  image: string;
  pullPolicy?: string | undefined;
  /** The Pod's credentials. They are tried before the host's. */
  secrets?: readonly Keyring[];
}

export interface ImagePullerOptions {
  driver: Pick<RuntimeDriver, 'findImage' | 'pull' | 'tag'>;
  clock: Clock;
  registries: Pick<RegistrySettings, 'current'>;
  /** Limit of concurrent pulls. */
  maxParallelPulls: number;
  /** Called for each pulled image. `wasThere`: the host had an image of this name before. */
  onPulled?: (image: LocalImage, wasThere: boolean) => void;
}

interface Pull {
  done: Promise<{ pullMs: number }>;
  abort: AbortController;
  waiting: number;
}

/** Must be long: extracting a large layer to a slow SD card makes no visible progress for minutes. */
const STALL_MS = 10 * 60_000;

/** Shared by the whole agent. Keeps no state except the pulls in progress. */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #queue: PullQueue;
  readonly #pulls = new Map<string, Pull>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
    this.#queue = new PullQueue(options.maxParallelPulls);
  }

  /**
   * Resolves when the engine has the image as the policy asks. `onPull` is called before a pull starts. Throws
   * `RuntimeError`: InvalidImageName, ErrImageNeverPull, or the driver's error. An abort does not stop a pull that
   * other callers wait for.
   */
  async ensure(request: ImageRequest, signal: AbortSignal, onPull: () => void): Promise<EnsuredImage> {
    const { image, pullPolicy = defaultPullPolicy(image) } = request;
    const invalid = imageNameError(image);
    if (invalid) {
      const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": ${invalid}`;
      throw new RuntimeError('InvalidImageName', message, false);
    }
    const name = fullImageName(image);
    const present = await this.#find(name);
    if (present && pullPolicy !== 'Always') return { kind: 'present', image: present };
    if (pullPolicy === 'Never') {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      throw new RuntimeError('ErrImageNeverPull', message, false);
    }
    onPull();
    const startedAt = this.#options.clock.monotonic();
    const { pullMs } = await this.#join(name, request.secrets ?? [], signal);
    const pulled = await this.#find(name);
    if (!pulled)
      throw new RuntimeError('ErrImagePull', `${name} was pulled, but the engine does not have it`, true);
    this.#options.onPulled?.(pulled, present !== undefined);
    const totalMs = this.#options.clock.monotonic() - startedAt;
    return { kind: 'pulled', image: pulled, pullMs, totalMs };
  }

  /** Looks for the image by its own name, then by the names that mirrors give it. */
  async #find(fullName: string): Promise<LocalImage | undefined> {
    const names = [fullName];
    if (hasDigest(fullName))
      names.push(...pullNames(fullName, (await this.#options.registries.current()).mirrors));
    for (const name of names) {
      const found = await this.#options.driver.findImage(name);
      if (found) return { ...found, name };
    }
    return undefined;
  }

  /** Waits for the pull in progress, or starts one. Stops the pull when its last caller has left. */
  async #join(name: string, secrets: readonly Keyring[], signal: AbortSignal): Promise<{ pullMs: number }> {
    const pull = this.#pulls.get(name) ?? this.#start(name, secrets);
    pull.waiting += 1;
    try {
      return await Promise.race([pull.done, rejectOnAbort(signal, pull.abort.signal)]);
    } finally {
      pull.waiting -= 1;
      if (pull.waiting === 0) this.#end(name, pull);
    }
  }

  #start(name: string, secrets: readonly Keyring[]): Pull {
    const abort = new AbortController();
    const { clock } = this.#options;
    const done = this.#queue.run(async () => {
      const startedAt = clock.monotonic();
      await this.#pull(name, secrets, abort.signal);
      return { pullMs: clock.monotonic() - startedAt };
    }, abort.signal);
    const pull = { done, abort, waiting: 0 };
    this.#pulls.set(name, pull);
    // A pull without remaining callers may fail: its error is ignored.
    done.catch(() => undefined).finally(() => this.#forget(name, pull));
    return pull;
  }

  /** Tries all mirrors and credentials in order until one succeeds. */
  async #pull(fullName: string, secrets: readonly Keyring[], signal: AbortSignal): Promise<void> {
    const { driver, registries } = this.#options;
    const { keyring, mirrors } = await registries.current();
    const errors: RuntimeError[] = [];
    for (const image of pullNames(fullName, mirrors)) {
      const found = credentialsFor(image, [...secrets, keyring]);
      for (const auth of found.length > 0 ? found : [undefined]) {
        try {
          await this.#pullFrom({ image, signal, ...(auth && { auth: authHeader(auth, image) }) });
          if (image !== fullName && !hasDigest(fullName)) await driver.tag(image, fullName);
          return;
        } catch (error) {
          if (!(error instanceof RuntimeError) || error.reason === 'EngineDown' || signal.aborted)
            throw error;
          errors.push(error);
        }
      }
    }
    throw combined(errors);
  }

  /** Aborts a pull without progress: a registry that hangs must not block a place in the queue for ever. */
  async #pullFrom(request: PullRequest): Promise<void> {
    const { driver, clock } = this.#options;
    const abort = new AbortController();
    const stalled = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason));
    });
    const watch = (): Timer =>
      clock.after(STALL_MS, () =>
        abort.abort(new RuntimeError('ErrImagePull', `no progress in ${goDuration(STALL_MS)}`, true)),
      );
    let timer = watch();
    const onProgress = (): void => {
      timer.cancel();
      timer = watch();
    };
    const signal = AbortSignal.any([request.signal, abort.signal]);
    try {
      await Promise.race([driver.pull({ ...request, signal, onProgress }), stalled]);
    } finally {
      timer.cancel();
    }
  }

  #end(name: string, pull: Pull): void {
    pull.abort.abort(new RuntimeError('ErrImagePull', 'the pull was cancelled', true));
    this.#forget(name, pull);
  }

  /** Keeps a later pull of the same name. */
  #forget(name: string, pull: Pull): void {
    if (this.#pulls.get(name) === pull) this.#pulls.delete(name);
  }
}

/** Returns a single error unchanged, and joins several as the kubelet does. */
function combined(errors: readonly RuntimeError[]): RuntimeError {
  const [first, ...others] = errors;
  if (first && others.length === 0) return first;
  const message = `[${errors.map((error) => error.message).join(', ')}]`;
  return new RuntimeError(first?.reason ?? 'ErrImagePull', message, true);
}

/** URL-safe base64 as engines expect it: with padding, which Node's `base64url` leaves out. */
function authHeader({ username, password, identityToken }: RegistryAuth, image: string): string {
  const serveraddress = image.slice(0, image.indexOf('/'));
  const auth = identityToken === undefined ? { username, password } : { identitytoken: identityToken };
  const text = Buffer.from(JSON.stringify({ ...auth, serveraddress })).toString('base64');
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/** Rejects when `signal` aborts. Removes its listener when `until` aborts. */
function rejectOnAbort(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(new RuntimeError('ErrImagePull', 'the pull was cancelled', true));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: until });
  });
}
