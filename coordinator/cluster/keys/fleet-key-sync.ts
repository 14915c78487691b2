/**
 * Keeps the keys of all members equal. The leader stores them sealed under the cluster key `keys` when they change: a
 * rotation of the authority, of a signing key, or of the encryption keys of Secrets. The others write them to disk. A
 * version number decides which are newer, never a time of a file.
 */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Component } from '../../../shared/process/service/program-lifecycle.js';
import { type Clock, every } from '../../../shared/process/time/clock.js';
import type { ClusterKeys, ClusterValue } from '../../store/replica/replicated-log.js';
import { KEYS_KEY } from '../cluster-member.js';
import { exportFleetKeys, importFleetKeys, writeKeysVersion } from './fleet-key-files.js';
import { contentHash, type FleetKeys, FleetKeysError, packFleetKeys, unpackFleetKeys } from './fleet-keys.js';
import { openValue, readClusterKey, sealValue } from './sealed-value.js';

const INTERVAL_MS = 60_000;

interface FleetKeySyncDeps {
  dataDir: string;
  /** Address of this member. */
  server: string;
  clusterUID: string;
  keys: Pick<ClusterKeys, 'get' | 'put'>;
  clock: Clock;
  log: Logger;
}

interface StoredKeys {
  readonly bundle: FleetKeys;
  /** `contentHash` of its files. */
  readonly hash: string;
  /** Of the cluster value. */
  readonly valueVersion: number;
}

export class FleetKeySync {
  readonly #deps: FleetKeySyncDeps;
  /** Calls run one after another, because both change the same files. */
  #last: Promise<unknown> = Promise.resolve();
  /** Version of the cluster value that this member has on disk. A standby pulls often, so it is not opened again. */
  #known: number | undefined;
  /** Hash of keys whose write got no answer. If etcd has them, they are this member's own. */
  #unconfirmed: string | undefined;

  constructor(deps: FleetKeySyncDeps) {
    this.#deps = deps;
  }

  /**
   * Writes newer keys of the leader to disk. Returns true if a file changed. A member must not lead before this has
   * resolved. Rejects with LogUnavailable, SealError, FleetKeysError and errors of the disk.
   */
  pull(): Promise<boolean> {
    return this.#inTurn(() => this.#pull());
  }

  /**
   * Stores this member's keys if they differ from the stored ones. A leader calls it before it opens its store, after
   * each renewal of certificates, and before it uses a new key. Rejects like `pull`.
   */
  publish(): Promise<void> {
    return this.#inTurn(() => this.#publish());
  }

  /** Publishes every minute. A failure is logged and repeated a minute later. */
  component(): Component {
    const { clock, log } = this.#deps;
    let stop = (): void => undefined;
    const run = () => {
      this.publish().catch((error: unknown) => log.warn({ err: error }, "failed to share the fleet's keys"));
    };
    return {
      name: 'fleet-keys',
      start: () => {
        stop = every(clock, INTERVAL_MS, run);
      },
      stop: () => {
        stop();
        return this.#last.then(
          () => undefined,
          () => undefined,
        );
      },
    };
  }

  async #pull(): Promise<boolean> {
    const { dataDir, server, keys, log } = this.#deps;
    const found = await keys.get(KEYS_KEY);
    if (!found || found.version === this.#known) return false;
    const stored = await this.#open(found);
    const { version } = await exportFleetKeys(dataDir);
    this.#known = undefined;
    if (stored.bundle.version <= version) {
      this.#known = found.version;
      return false;
    }
    const isChanged = await importFleetKeys(dataDir, stored.bundle, server);
    this.#known = found.version;
    log.info({ version: stored.bundle.version, isChanged }, "the fleet's keys were written to disk");
    return isChanged;
  }

  async #publish(): Promise<void> {
    const { dataDir, keys, log } = this.#deps;
    const own = await exportFleetKeys(dataDir);
    const hash = contentHash(own.files);
    const stored = await this.#stored();
    if (stored && (await this.#isOwn(stored, hash))) return;
    if (stored && stored.bundle.version > own.version && stored.hash !== this.#unconfirmed) {
      throw new FleetKeysError('etcd has newer keys of the fleet than this coordinator: it may not lead');
    }
    const version = (stored?.bundle.version ?? own.version) + 1;
    const plain = packFleetKeys({ version, files: own.files });
    const sealed = sealValue(await readClusterKey(dataDir), this.#name, plain);
    this.#unconfirmed = hash;
    if (!(await keys.put(KEYS_KEY, sealed, { version: stored?.valueVersion ?? 0 }))) {
      // A command of this machine may have stored the same keys meanwhile.
      const other = await this.#stored();
      if (other && (await this.#isOwn(other, hash))) return;
      throw new FleetKeysError("another coordinator changed the fleet's keys at the same time");
    }
    await writeKeysVersion(dataDir, version);
    this.#unconfirmed = undefined;
    log.info({ version }, "the fleet's keys changed and were stored for the other coordinators");
  }

  /**
   * Returns true if etcd has exactly these keys. The version on disk may be older: its write followed that of etcd, and
   * the answer was lost or the process was killed in between.
   */
  async #isOwn({ bundle, hash }: StoredKeys, own: string): Promise<boolean> {
    if (hash !== own) return false;
    await writeKeysVersion(this.#deps.dataDir, bundle.version);
    this.#unconfirmed = undefined;
    return true;
  }

  /** The name under which the value is sealed. Another fleet's value does not open. */
  get #name(): string {
    return `${this.#deps.clusterUID}/${KEYS_KEY}`;
  }

  async #stored(): Promise<StoredKeys | undefined> {
    const found = await this.#deps.keys.get(KEYS_KEY);
    return found && this.#open(found);
  }

  async #open({ value, version }: ClusterValue): Promise<StoredKeys> {
    const plain = openValue(await readClusterKey(this.#deps.dataDir), this.#name, value);
    const bundle = unpackFleetKeys(plain);
    return { bundle, hash: contentHash(bundle.files), valueVersion: version };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result;
    return result;
  }
}
