/** The ConfigMaps and Secrets this host was given, one file each: its Pods need them after a reboot with no coordinator in reach. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigMap, Secret } from '../../shared/kube/objects/config-types.js';
import {
  type ConfigReference,
  configKey,
  configReferenceTo,
} from '../../shared/kube/pods/config-reference.js';
import type { DesiredObject, ObjectDigest } from '../../shared/link/messages/link-messages.js';
import { removePrivateFile, writePrivateFile } from '../../shared/process/files/private-file.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { AtRestCipher } from './at-rest-cipher.js';
import { type CachedConfig, decodeConfigFile, encodeConfigFile } from './config-object-file.js';

/** With the value `"false"` on a Secret or ConfigMap, hosts keep it in memory alone. */
const OFFLINE_ANNOTATION = 'everynode.dev/offline';

const SUFFIX = '.object';
/** After a write that failed. */
const RETRY_MS = 10_000;

/** Where the files are, and what seals the Secrets among them. */
interface ConfigPlace {
  directory: string;
  box: AtRestCipher;
}

/** What a difference did: which objects are others now, visible at once, and when that is on disk. */
interface AppliedConfig {
  changed: ConfigReference[];
  durable: Promise<void>;
}

/** Whether a Pod may still need the object. */
type IsNeeded = (reference: ConfigReference) => boolean;

export class ConfigCache {
  readonly #place: ConfigPlace | undefined;
  readonly #log: Logger;
  readonly #byUid = new Map<string, CachedConfig>();
  readonly #byKey = new Map<string, CachedConfig>();
  /** Uids that the disk does not have as they are here. */
  readonly #unwritten = new Set<string>();
  /** Uids that the hub has let go of, and a Pod of this host may still need. */
  readonly #overdue = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;

  private constructor(place: ConfigPlace | undefined, log: Logger) {
    this.#place = place;
    this.#log = log;
  }

  /** Reads what is there. A damaged file is removed: the coordinator gives the object again. */
  static async open(place: ConfigPlace, log: Logger): Promise<ConfigCache> {
    await mkdir(place.directory, { recursive: true, mode: 0o700 });
    const cache = new ConfigCache(place, log);
    for (const name of await readdir(place.directory)) await cache.#load(place, name);
    return cache;
  }

  /** One that ends with the process, for hosts that pretend: thousands of them hold each object once. */
  static inMemory(log: Logger): ConfigCache {
    return new ConfigCache(undefined, log);
  }

  /** For the hello. What could not be written counts as not held: the hub gives it again, and it is written then. */
  have(): ObjectDigest[] {
    const written = [...this.#byUid.values()].filter(({ uid }) => !this.#unwritten.has(uid));
    return written.map(({ uid, digest }) => [uid, digest]);
  }

  find(reference: ConfigReference): ConfigMap | Secret | undefined {
    return this.#byKey.get(configKey(reference))?.object;
  }

  /**
   * Takes the ConfigMaps and Secrets of a difference over. One that cannot be read is logged and left out; one that `isNeeded`
   * is kept until `dropOverdue`.
   */
  apply(
    { set, unassigned }: { set: readonly DesiredObject[]; unassigned: readonly string[] },
    isNeeded: IsNeeded = () => false,
  ): AppliedConfig {
    const given = set.flatMap((object) => (object.kind ? this.#decode(object) : []));
    const leaving = unassigned.flatMap((uid) => this.#byUid.get(uid) ?? []);
    const dropped = leaving.filter(({ object }) => !isNeeded(configReferenceTo(object)));
    for (const { uid } of given) this.#overdue.delete(uid);
    for (const { uid } of leaving) this.#overdue.add(uid);
    for (const { uid } of dropped) this.#overdue.delete(uid);
    for (const held of given) this.#remember(held);
    for (const held of dropped) this.#forget(held);
    if (this.#place) for (const { uid } of given) this.#unwritten.add(uid);
    const durable = this.#writing.catch(() => undefined).then(() => this.#write(given, dropped));
    this.#writing = durable;
    // Whoever waits for it hears of a failure; `flush` and the next write do not.
    durable.catch(() => undefined);
    return { changed: [...given, ...dropped].map(({ object }) => configReferenceTo(object)), durable };
  }

  /** Lets go of what was kept for longer than the hub said, unless it still `isNeeded`. */
  dropUnneeded(isNeeded: IsNeeded): void {
    if (this.#overdue.size > 0) this.apply({ set: [], unassigned: [...this.#overdue] }, isNeeded);
  }

  /** What is not on disk is written as soon as it can be. */
  scheduleRewrite(clock: Pick<Clock, 'after'>): void {
    if (this.#unwritten.size === 0) return;
    this.#retry ??= clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      const unwritten = [...this.#unwritten].flatMap((uid) => this.#byUid.get(uid) ?? []);
      this.#writing = this.#writing.catch(() => undefined).then(() => this.#write(unwritten, []));
      this.#writing.catch(() => this.scheduleRewrite(clock));
    });
  }

  /** Resolves when everything so far is on disk, or cannot be. */
  flush(): Promise<void> {
    return this.#writing.catch(() => undefined);
  }

  #remember(held: CachedConfig): void {
    this.#byUid.set(held.uid, held);
    this.#byKey.set(configKey(configReferenceTo(held.object)), held);
  }

  /** The name may already be that of another object, made anew. */
  #forget(held: CachedConfig): void {
    this.#byUid.delete(held.uid);
    const key = configKey(configReferenceTo(held.object));
    if (this.#byKey.get(key)?.uid === held.uid) this.#byKey.delete(key);
  }

  #decode({ uid, digest, object, kind }: DesiredObject): CachedConfig[] {
    try {
      const decoded = JSON.parse(Buffer.from(object).toString('utf8')) as ConfigMap | Secret;
      const held = { uid, digest, object: decoded };
      if (decoded.kind === kind && decoded.metadata.name) return [this.#place ? held : shared(held)];
    } catch {
      // Told below. What the parser says could quote a Secret.
    }
    this.#log.error({ uid, kind }, 'desired object cannot be read; left out');
    return [];
  }

  async #load({ directory, box }: ConfigPlace, name: string): Promise<void> {
    const path = join(directory, name);
    const uid = decodeURIComponent(name.slice(0, -SUFFIX.length));
    const decoded = name.endsWith(SUFFIX)
      ? decodeConfigFile(await readFile(path), uid, box)
      : ({ kind: 'unreadable' } as const);
    switch (decoded.kind) {
      case 'held':
        this.#remember(decoded.held);
        return;
      case 'sealed':
        // The key may be back at the next start.
        this.#log.error({ path }, 'Secret is sealed under another key; waiting for the coordinator');
        return;
      case 'unreadable':
        this.#log.warn({ path }, 'damaged file of a desired object removed');
        await rm(path, { force: true });
    }
  }

  async #write(given: readonly CachedConfig[], dropped: readonly CachedConfig[]): Promise<void> {
    const place = this.#place;
    if (!place) return;
    for (const held of given) {
      if (isKept(held)) await writePrivateFile(pathOf(place, held), encodeConfigFile(held, place.box));
      else await removePrivateFile(pathOf(place, held));
      // Another version may have come meanwhile, and waits behind this one.
      if (this.#byUid.get(held.uid) === held) this.#unwritten.delete(held.uid);
    }
    for (const held of dropped) {
      await removePrivateFile(pathOf(place, held));
      this.#unwritten.delete(held.uid);
    }
  }
}

/** Of hosts that pretend in this process; an object is forgotten with the last of them, its short key stays. */
const sharedHeld = new Map<string, WeakRef<CachedConfig>>();

function shared(held: CachedConfig): CachedConfig {
  const key = `${held.uid} ${held.digest}`;
  const present = sharedHeld.get(key)?.deref();
  if (present) return present;
  sharedHeld.set(key, new WeakRef(held));
  return held;
}

function isKept({ object }: CachedConfig): boolean {
  return object.metadata.annotations?.[OFFLINE_ANNOTATION] !== 'false';
}

function pathOf({ directory }: ConfigPlace, { uid }: CachedConfig): string {
  return join(directory, encodeURIComponent(uid) + SUFFIX);
}
