/**
 * The ConfigMaps and Secrets of this host, one file each. Pods need them after a reboot without a reachable
 * coordinator.
 */
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

/** With the value `"false"` on a Secret or ConfigMap, hosts keep the object only in memory. */
const OFFLINE_ANNOTATION = 'everynode.dev/offline';

const SUFFIX = '.object';
/** Retry delay after a failed write. */
const RETRY_MS = 10_000;

/** Directory of the files, and the cipher for Secrets. */
interface ConfigStorage {
  directory: string;
  cipher: AtRestCipher;
}

/** The changed objects, visible at once, and a promise that resolves when they are on disk. */
interface AppliedConfig {
  changed: ConfigReference[];
  durable: Promise<void>;
}

/** Returns true if a Pod may still need the object. */
type IsNeeded = (reference: ConfigReference) => boolean;

export class ConfigCache {
  readonly #storage: ConfigStorage | undefined;
  readonly #log: Logger;
  readonly #byUid = new Map<string, CachedConfig>();
  readonly #byKey = new Map<string, CachedConfig>();
  /** Uids of objects that differ from the disk. */
  readonly #unwritten = new Set<string>();
  /** Uids of objects that the hub removed and a Pod of this host may still need. */
  readonly #overdue = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;

  private constructor(storage: ConfigStorage | undefined, log: Logger) {
    this.#storage = storage;
    this.#log = log;
  }

  /** Reads the directory. A damaged file is removed; the coordinator sends the object again. */
  static async open(storage: ConfigStorage, log: Logger): Promise<ConfigCache> {
    await mkdir(storage.directory, { recursive: true, mode: 0o700 });
    const cache = new ConfigCache(storage, log);
    for (const name of await readdir(storage.directory)) await cache.#load(storage, name);
    return cache;
  }

  /** A cache without files for simulated hosts. Thousands of them share one copy of each object. */
  static inMemory(log: Logger): ConfigCache {
    return new ConfigCache(undefined, log);
  }

  /**
   * Returns the inventory for the hello. An object that could not be written is left out, so that the hub sends it
   * again.
   */
  have(): ObjectDigest[] {
    const written = [...this.#byUid.values()].filter(({ uid }) => !this.#unwritten.has(uid));
    return written.map(({ uid, digest }) => [uid, digest]);
  }

  find(reference: ConfigReference): ConfigMap | Secret | undefined {
    return this.#byKey.get(configKey(reference))?.object;
  }

  /**
   * Applies the ConfigMaps and Secrets of a change. An unreadable object is logged and skipped. A removed object that
   * `isNeeded` is kept until `dropUnneeded`.
   */
  apply(
    { set, unassigned }: { set: readonly DesiredObject[]; unassigned: readonly string[] },
    isNeeded: IsNeeded = () => false,
  ): AppliedConfig {
    const received = set.flatMap((object) => (object.kind ? this.#decode(object) : []));
    const leaving = unassigned.flatMap((uid) => this.#byUid.get(uid) ?? []);
    const dropped = leaving.filter(({ object }) => !isNeeded(configReferenceTo(object)));
    for (const { uid } of received) this.#overdue.delete(uid);
    for (const { uid } of leaving) this.#overdue.add(uid);
    for (const { uid } of dropped) this.#overdue.delete(uid);
    for (const cached of received) this.#remember(cached);
    for (const cached of dropped) this.#forget(cached);
    if (this.#storage) for (const { uid } of received) this.#unwritten.add(uid);
    const durable = this.#writing.catch(() => undefined).then(() => this.#write(received, dropped));
    this.#writing = durable;
    // Callers that await it receive the failure; `flush` and the next write ignore it.
    durable.catch(() => undefined);
    return { changed: [...received, ...dropped].map(({ object }) => configReferenceTo(object)), durable };
  }

  /** Removes objects that were kept longer than the hub required, unless they are still needed. */
  dropUnneeded(isNeeded: IsNeeded): void {
    if (this.#overdue.size > 0) this.apply({ set: [], unassigned: [...this.#overdue] }, isNeeded);
  }

  /** Retries failed writes. */
  scheduleRewrite(clock: Pick<Clock, 'after'>): void {
    if (this.#unwritten.size === 0) return;
    this.#retry ??= clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      const unwritten = [...this.#unwritten].flatMap((uid) => this.#byUid.get(uid) ?? []);
      this.#writing = this.#writing.catch(() => undefined).then(() => this.#write(unwritten, []));
      this.#writing.catch(() => this.scheduleRewrite(clock));
    });
  }

  /** Resolves when all changes so far are on disk, or their writes failed. */
  flush(): Promise<void> {
    return this.#writing.catch(() => undefined);
  }

  #remember(cached: CachedConfig): void {
    this.#byUid.set(cached.uid, cached);
    this.#byKey.set(configKey(configReferenceTo(cached.object)), cached);
  }

  /** The name may already belong to a new object. */
  #forget(cached: CachedConfig): void {
    this.#byUid.delete(cached.uid);
    const key = configKey(configReferenceTo(cached.object));
    if (this.#byKey.get(key)?.uid === cached.uid) this.#byKey.delete(key);
  }

  #decode({ uid, digest, object, kind }: DesiredObject): CachedConfig[] {
    try {
      const decoded = JSON.parse(Buffer.from(object).toString('utf8')) as ConfigMap | Secret;
      const cached = { uid, digest, object: decoded };
      if (decoded.kind === kind && decoded.metadata.name) return [this.#storage ? cached : shared(cached)];
    } catch {
      // Logged below without the parser's message, which could quote a Secret.
    }
    this.#log.error({ uid, kind }, 'desired object cannot be read; left out');
    return [];
  }

  async #load({ directory, cipher }: ConfigStorage, name: string): Promise<void> {
    const path = join(directory, name);
    const uid = decodeURIComponent(name.slice(0, -SUFFIX.length));
    const decoded = name.endsWith(SUFFIX)
      ? decodeConfigFile(await readFile(path), uid, cipher)
      : ({ kind: 'unreadable' } as const);
    switch (decoded.kind) {
      case 'decoded':
        this.#remember(decoded.cached);
        return;
      case 'sealed':
        // The key may be available at the next start.
        this.#log.error({ path }, 'Secret is encrypted with another key; waiting for the coordinator');
        return;
      case 'unreadable':
        this.#log.warn({ path }, 'damaged file of a desired object removed');
        await rm(path, { force: true });
    }
  }

  async #write(received: readonly CachedConfig[], dropped: readonly CachedConfig[]): Promise<void> {
    const storage = this.#storage;
    if (!storage) return;
    for (const cached of received) {
      if (isKept(cached))
        await writePrivateFile(pathOf(storage, cached), encodeConfigFile(cached, storage.cipher));
      else await removePrivateFile(pathOf(storage, cached));
      // A newer version may be waiting behind this write.
      if (this.#byUid.get(cached.uid) === cached) this.#unwritten.delete(cached.uid);
    }
    for (const cached of dropped) {
      await removePrivateFile(pathOf(storage, cached));
      this.#unwritten.delete(cached.uid);
    }
  }
}

/**
 * Objects shared by the simulated hosts of this process. An object is freed with its last host; the short key remains.
 */
const sharedObjects = new Map<string, WeakRef<CachedConfig>>();

function shared(cached: CachedConfig): CachedConfig {
  const key = `${cached.uid} ${cached.digest}`;
  const present = sharedObjects.get(key)?.deref();
  if (present) return present;
  sharedObjects.set(key, new WeakRef(cached));
  return cached;
}

function isKept({ object }: CachedConfig): boolean {
  return object.metadata.annotations?.[OFFLINE_ANNOTATION] !== 'false';
}

function pathOf({ directory }: ConfigStorage, { uid }: CachedConfig): string {
  return join(directory, encodeURIComponent(uid) + SUFFIX);
}
