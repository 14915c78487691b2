/** The assigned Pods on disk. They restart after a reboot without a reachable coordinator. */
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type {
  DesiredObject,
  ObjectDigest,
  ReturnedObject,
} from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { openHandoverOf } from '../decisions/handovers/handover-record.js';
import {
  type AssignedPod,
  afterAssign,
  afterTermination,
  afterUnassign,
  isUnassigned,
} from '../decisions/pods/assigned-pod.js';
import type { PodTermination } from '../decisions/pods/pod-view.js';
import {
  type DesiredContent,
  type DesiredPosition,
  decodeDesired,
  encodeDesired,
} from './desired-cache-file.js';
import type { DurableFile } from './durable-file.js';

/** Retry delay after a failed write. */
const RETRY_MS = 10_000;

/** A change as the link delivers it. */
interface CacheChange extends Required<DesiredPosition> {
  set: DesiredObject[];
  unassigned: string[];
}

/** A copy of the disk in memory. A change is visible at once and durable when its promise resolves. */
export class DesiredCache {
  readonly #file: DurableFile | undefined;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #pods: Map<string, AssignedPod>;
  #position: DesiredPosition;
  #writing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;
  #retry: Timer | undefined;
  readonly #forgetListeners: (() => void)[] = [];
  readonly #changeListeners: (() => void)[] = [];

  private constructor(file: DurableFile | undefined, content: DesiredContent, clock: Clock, log: Logger) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
    const { pods, ...position } = content;
    this.#position = position;
    this.#pods = new Map(pods.map((assigned) => [assigned.uid, assigned]));
  }

  /**
   * Reads the file. A damaged file is renamed, and the host starts without assigned Pods; running containers are left
   * alone.
   */
  static async open(file: DurableFile, clock: Clock, log: Logger): Promise<DesiredCache> {
    const text = await file.read();
    const content = text === undefined ? { revision: 0, pods: [] } : decodeDesired(text);
    if (content) return new DesiredCache(file, content, clock, log);
    const aside = await file.quarantine(`damaged-${clock.now()}`);
    log.error({ aside }, 'desired cache is damaged and was renamed; waiting for the coordinator');
    return new DesiredCache(file, { revision: 0, pods: [] }, clock, log);
  }

  /** A cache without a file for simulated hosts. */
  static inMemory(clock: Clock, log: Logger): DesiredCache {
    return new DesiredCache(undefined, { revision: 0, pods: [] }, clock, log);
  }

  position(): DesiredPosition {
    return this.#position;
  }

  /**
   * Returns the inventory for the hello. An unassigned Pod is listed without digest, so that the hub removes it again.
   * The successor of an unreported handover is left out.
   */
  have(): ObjectDigest[] {
    const given = [...this.#pods.values()].filter(
      (assigned) => assigned.manifestFile === undefined && !openHandoverOf(assigned)?.unreported,
    );
    return given.map((assigned) => [assigned.uid, isUnassigned(assigned) ? '' : assigned.digest]);
  }

  /** Returns the object as the hub sent it: `JSON.stringify` restores the bytes that `JSON.parse` has read. */
  returnObject(uid: string): ReturnedObject {
    const assigned = this.#pods.get(uid);
    if (!assigned?.objectMac || isUnassigned(assigned)) return { uid };
    return { uid, object: Buffer.from(JSON.stringify(assigned.pod)), mac: assigned.objectMac };
  }

  get(uid: string): AssignedPod | undefined {
    return this.#pods.get(uid);
  }

  /** Number of assigned Pods, including stopping ones. */
  get size(): number {
    return this.#pods.size;
  }

  all(): Iterable<AssignedPod> {
    return this.#pods.values();
  }

  /** Applies a change. Anything but a valid Pod is logged and skipped. Resolves when the change is on disk. */
  async apply(change: CacheChange): Promise<void> {
    const now = this.#clock.now();
    for (const object of change.set) {
      if (object.kind) continue;
      const pod = this.#decodePod(object);
      if (!pod) continue;
      const { uid, digest, mac } = object;
      const given = { uid, digest, pod, ...(mac && { objectMac: mac }) };
      this.#pods.set(object.uid, afterAssign(this.#pods.get(object.uid), given, now));
    }
    for (const uid of change.unassigned) {
      const assigned = this.#pods.get(uid);
      if (assigned) this.#pods.set(uid, afterUnassign(assigned, now, change.epoch));
    }
    const { clusterUID, epoch, revision } = change;
    this.#position = { clusterUID, epoch: epoch, revision };
    await this.#save();
  }

  /**
   * Replaces the static Pods. A file without a valid Pod keeps its previous Pod. Returns the uids of new Pods and of
   * Pods to stop.
   */
  replaceStatic(manifests: readonly { file: string; pod?: Pod }[]): { set: string[]; gone: string[] } {
    const now = this.#clock.now();
    const wanted = new Map(
      manifests.flatMap(({ file, pod }) => (pod ? [[pod.metadata.uid ?? '', { file, pod }]] : [])),
    );
    const unusable = new Set(manifests.filter(({ pod }) => !pod).map(({ file }) => file));
    const set = [...wanted.keys()].filter((uid) => isMissing(this.#pods.get(uid)));
    const gone = [...this.#pods.values()].filter(
      (assigned) =>
        assigned.manifestFile !== undefined &&
        !isUnassigned(assigned) &&
        !wanted.has(assigned.uid) &&
        !unusable.has(assigned.manifestFile),
    );
    for (const uid of set) {
      const { file, pod } = wanted.get(uid) ?? {};
      if (pod)
        this.#pods.set(uid, afterAssign(undefined, { uid, digest: uid, pod, manifestFile: file ?? '' }, now));
    }
    for (const assigned of gone) this.#pods.set(assigned.uid, afterUnassign(assigned, now));
    if (set.length > 0 || gone.length > 0) this.#saveSoon('static');
    return { set, gone: gone.map(({ uid }) => uid) };
  }

  /** Stores the host's decision to end the Pod. Returns the Pod's new state. */
  terminate(uid: string, end: PodTermination): AssignedPod | undefined {
    const assigned = this.#pods.get(uid);
    if (!assigned) return undefined;
    const termination = afterTermination(assigned, end);
    this.#pods.set(uid, termination);
    this.#saveSoon(uid);
    return termination;
  }

  /** Adds or replaces Pods; visible at once, durable when it resolves. */
  put(...pods: AssignedPod[]): Promise<void> {
    for (const assigned of pods) this.#pods.set(assigned.uid, assigned);
    return this.#save();
  }

  /**
   * Replaces Pods only once the change is on disk, because nothing may happen before. Resolves with false if `assigned` was
   * changed meanwhile; that change remains. Rejects without any change if the write fails.
   */
  async replaceDurably(assigned: AssignedPod, ...pods: AssignedPod[]): Promise<boolean> {
    const file = this.#file;
    const isUnchanged = () => this.#pods.get(assigned.uid) === assigned;
    if (file) {
      await this.#afterWrites(async () => {
        // An earlier queued write contains that other change; this write would overwrite it.
        if (!isUnchanged()) return;
        const all = new Map([...this.#pods, ...pods.map((each) => [each.uid, each] as const)]);
        await file.write(encodeDesired({ ...this.#position, pods: [...all.values()] }));
      });
    }
    // The concurrent change is queued behind this write.
    if (!isUnchanged()) return false;
    for (const each of pods) this.#pods.set(each.uid, each);
    this.#notifyChange();
    return true;
  }

  /** Calls the listener after each change in memory. */
  onChange(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  onForget(listener: () => void): void {
    this.#forgetListeners.push(listener);
  }

  /**
   * Removes a Pod whose containers are gone. If this write is lost, the Pod is only inspected once more, so callers
   * need not wait.
   */
  forget(uid: string): void {
    if (!this.#pods.delete(uid)) return;
    this.#saveSoon(uid);
    for (const listener of this.#forgetListeners) listener();
  }

  /** Resolves when all changes so far are on disk. */
  flush(): Promise<void> {
    return this.#queued ?? this.#writing;
  }

  #saveSoon(uid: string): void {
    this.#save().catch((error: unknown) =>
      this.#log.warn({ uid, err: error }, 'desired cache could not be written'),
    );
  }

  #decodePod(object: DesiredObject): Pod | undefined {
    try {
      const decoded: unknown = JSON.parse(Buffer.from(object.object).toString('utf8'));
      if (isPod(decoded)) return decoded;
      this.#log.debug({ uid: object.uid }, 'desired object is no Pod; left out');
    } catch (error) {
      this.#log.error({ uid: object.uid, err: error }, 'desired object cannot be read; left out');
    }
    return undefined;
  }

  /**
   * A full disk has space again at some time. Until then its content is old, and a finished Pod would run again after a
   * restart.
   */
  #tryAgain(): void {
    this.#retry ??= this.#clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      this.#saveSoon('all');
    });
  }

  #notifyChange(): void {
    for (const listener of this.#changeListeners) listener();
  }

  /** One write at a time; changes during a write are merged into the next one. */
  #save(): Promise<void> {
    this.#notifyChange();
    const file = this.#file;
    if (file === undefined) return Promise.resolve();
    this.#queued ??= this.#afterWrites(() => {
      this.#queued = undefined;
      const written = file.write(encodeDesired({ ...this.#position, pods: [...this.#pods.values()] }));
      written.catch(() => this.#tryAgain());
      return written;
    });
    return this.#queued;
  }

  #afterWrites(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.catch(() => undefined).then(write);
    this.#writing = written;
    // Callers receive the failure; writes queued behind it continue.
    written.catch(() => undefined);
    return written;
  }
}

function isMissing(assigned: AssignedPod | undefined): boolean {
  return !assigned || isUnassigned(assigned);
}

function isPod(object: unknown): object is Pod {
  const { kind, metadata, spec } = object as Partial<Pod>;
  return kind === 'Pod' && typeof metadata?.name === 'string' && Array.isArray(spec?.containers);
}
