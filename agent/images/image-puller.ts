/** Images by pull policy, one pull per image at a time whoever asks (pkg/kubelet/images). */
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import {
  defaultPullPolicy,
  fullImageName,
  hasDigest,
  imageNameError,
  pullNames,
} from '../decisions/images/image-name.js';
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

/** An image that the engine has. */
export interface LocalImage extends EngineImage {
  /** What the engine calls it: another name than the Pod's where a mirror gave it by its digest. */
  name: string;
}

/** What came of asking for an image. Times in ms: of the pull alone, and with waiting for its turn. */
type EnsuredImage =
  | { kind: 'present'; image: LocalImage }
  | { kind: 'pulled'; image: LocalImage; pullMs: number; totalMs: number };

/** How an image is asked for. */
interface ImageRequest {
  image: string;
  pullPolicy?: string | undefined;
  /** Credentials of the Pod, which go before the host's. */
  secrets?: readonly Keyring[];
}

export interface ImagePullerOptions {
  driver: Pick<RuntimeDriver, 'findImage' | 'pull' | 'tag'>;
  clock: Clock;
  registries: Pick<RegistrySettings, 'current'>;
  /** Pulls that go on at once. */
  maxParallelPulls: number;
  /** Told of each image that arrived by a pull, and whether one of this name was there before. */
  onPulled?: (image: LocalImage, wasThere: boolean) => void;
}

interface Pull {
  done: Promise<{ pullMs: number }>;
  abort: AbortController;
  waiting: number;
}

/** Extracting a large layer onto a slow card is silent for minutes, too. */
const STALL_MS = 10 * 60_000;

/** One for the whole agent: it knows which pulls are under way, and nothing else. */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #queue: PullQueue;
  readonly #pulls = new Map<string, Pull>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
    this.#queue = new PullQueue(options.maxParallelPulls);
  }

  /**
   * Resolves when the engine has the image as the policy asks. `onPull` is called before a pull that this call waits for.
   * Throws `RuntimeError`: InvalidImageName, ErrImageNeverPull, or what the driver says of the pull. An abort leaves the
   * pull to others who wait.
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
    if (!pulled) throw new RuntimeError('ErrImagePull', `${name} was pulled and is not there`, true);
    this.#options.onPulled?.(pulled, present !== undefined);
    const totalMs = this.#options.clock.monotonic() - startedAt;
    return { kind: 'pulled', image: pulled, pullMs, totalMs };
  }

  /** By its own name, else by one that a mirror gave it. */
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

  /** Waits for the pull under way, or starts it; the last one to leave stops it. */
  async #join(name: string, secrets: readonly Keyring[], signal: AbortSignal): Promise<{ pullMs: number }> {
    const pull = this.#pulls.get(name) ?? this.#begin(name, secrets);
    pull.waiting += 1;
    try {
      return await Promise.race([pull.done, rejectOnAbort(signal, pull.abort.signal)]);
    } finally {
      pull.waiting -= 1;
      if (pull.waiting === 0) this.#end(name, pull);
    }
  }

  #begin(name: string, secrets: readonly Keyring[]): Pull {
    const abort = new AbortController();
    const { clock } = this.#options;
    const done = this.#queue.run(async () => {
      const startedAt = clock.monotonic();
      await this.#pull(name, secrets, abort.signal);
      return { pullMs: clock.monotonic() - startedAt };
    }, abort.signal);
    const pull = { done, abort, waiting: 0 };
    this.#pulls.set(name, pull);
    // A pull that everyone left fails with nobody to tell.
    done.catch(() => undefined).finally(() => this.#forget(name, pull));
    return pull;
  }

  /** From the first place, and with the first credentials, that give it. */
  async #pull(fullName: string, secrets: readonly Keyring[], signal: AbortSignal): Promise<void> {
    const { driver, registries } = this.#options;
    const { keyring, mirrors } = await registries.current();
    const refusals: RuntimeError[] = [];
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
          refusals.push(error);
        }
      }
    }
    throw together(refusals);
  }

  /** A registry that has gone silent must not hold a place for ever. */
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

  /** A later pull of the same name is another one and stays. */
  #forget(name: string, pull: Pull): void {
    if (this.#pulls.get(name) === pull) this.#pulls.delete(name);
  }
}

/** One refusal as it is; several as a kubelet lists them. */
function together(refusals: readonly RuntimeError[]): RuntimeError {
  const [first, ...others] = refusals;
  if (first && others.length === 0) return first;
  const message = `[${refusals.map((refusal) => refusal.message).join(', ')}]`;
  return new RuntimeError(first?.reason ?? 'ErrImagePull', message, true);
}

/** As engines take it: JSON in base64 that is safe in a URL. Node leaves out the padding, which both of them insist on. */
function authHeader({ username, password, identityToken }: RegistryAuth, image: string): string {
  const serveraddress = image.slice(0, image.indexOf('/'));
  const auth = identityToken === undefined ? { username, password } : { identitytoken: identityToken };
  const text = Buffer.from(JSON.stringify({ ...auth, serveraddress })).toString('base64');
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/** Rejects when `signal` aborts; stops listening when `until` does. */
function rejectOnAbort(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(new RuntimeError('ErrImagePull', 'the pull was cancelled', true));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true, signal: until });
  });
}
