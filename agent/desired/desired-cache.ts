/** The Pods this host was given, on disk: they must come back after a reboot with no coordinator in reach. */
import { createHash } from 'node:crypto';
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
import type { DurableFile } from './durable-file.js';

const FORMAT = 1;
/** After a write that failed. */
const RETRY_MS = 10_000;

/** How far this host had come, for the link's hello. */
interface DesiredPosition {
  clusterUID?: string;
  epoch?: string;
  /** Of the last difference applied; 0 = none. */
  revision: number;
}

interface Content extends DesiredPosition {
  pods: AssignedPod[];
}

/** A difference as the link hands it over. */
interface CacheChange extends Required<DesiredPosition> {
  set: DesiredObject[];
  unassigned: string[];
}

/** In memory what is on disk; a change is visible at once and durable when its promise resolves. */
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

  private constructor(file: DurableFile | undefined, content: Content, clock: Clock, log: Logger) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
    const { pods, ...position } = content;
    this.#position = position;
    this.#pods = new Map(pods.map((held) => [held.uid, held]));
  }

  /** Reads the file. One that is damaged is kept beside it and the host starts with nothing held: no container is touched for it. */
  static async open(file: DurableFile, clock: Clock, log: Logger): Promise<DesiredCache> {
    const text = await file.read();
    const content = text === undefined ? { revision: 0, pods: [] } : decode(text);
    if (content) return new DesiredCache(file, content, clock, log);
    const aside = await file.quarantine(`damaged-${clock.now()}`);
    log.error({ aside }, 'desired cache is damaged; kept aside, waiting for the coordinator');
    return new DesiredCache(file, { revision: 0, pods: [] }, clock, log);
  }

  /** One that ends with the process, for hosts that pretend. */
  static inMemory(clock: Clock, log: Logger): DesiredCache {
    return new DesiredCache(undefined, { revision: 0, pods: [] }, clock, log);
  }

  position(): DesiredPosition {
    return this.#position;
  }

  /**
   * For the hello. A Pod on its way out counts as held only by the engine: the hub will say `gone` again. One that took
   * another's place is left out until the hub has heard of that.
   */
  have(): ObjectDigest[] {
    const given = [...this.#pods.values()].filter(
      (assigned) => assigned.manifestFile === undefined && !openHandoverOf(assigned)?.unreported,
    );
    return given.map((assigned) => [assigned.uid, isUnassigned(assigned) ? '' : assigned.digest]);
  }

  /** The object as it was given: what `JSON.parse` made of the bytes, `JSON.stringify` makes into the same again. */
  returnObject(uid: string): ReturnedObject {
    const held = this.#pods.get(uid);
    if (!held?.objectMac || isUnassigned(held)) return { uid };
    return { uid, object: Buffer.from(JSON.stringify(held.pod)), mac: held.objectMac };
  }

  get(uid: string): AssignedPod | undefined {
    return this.#pods.get(uid);
  }

  /** How many Pods are held, those on their way out included. */
  get size(): number {
    return this.#pods.size;
  }

  all(): Iterable<AssignedPod> {
    return this.#pods.values();
  }

  /** Takes the difference over. What is no Pod, or no JSON, is logged and left out. Resolves when it is on disk. */
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
      const held = this.#pods.get(uid);
      if (held) this.#pods.set(uid, afterUnassign(held, now, change.epoch));
    }
    const { clusterUID, epoch, revision } = change;
    this.#position = { clusterUID, epoch: epoch, revision };
    await this.#save();
  }

  /**
   * Makes the static Pods these; what ran of a file that is there without a Pod stays as it is. Answers the uids that are
   * new and those that are to end.
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
    for (const held of gone) this.#pods.set(held.uid, afterUnassign(held, now));
    if (set.length > 0 || gone.length > 0) this.#saveSoon('static');
    return { set, gone: gone.map(({ uid }) => uid) };
  }

  /** Keeps the host's word that the Pod is over; answers the Pod as it is held from now on. */
  terminate(uid: string, end: PodTermination): AssignedPod | undefined {
    const held = this.#pods.get(uid);
    if (!held) return undefined;
    const givenUp = afterTermination(held, end);
    this.#pods.set(uid, givenUp);
    this.#saveSoon(uid);
    return givenUp;
  }

  /** Holds one more Pod, or one otherwise; visible at once, durable when it resolves. */
  put(...pods: AssignedPod[]): Promise<void> {
    for (const held of pods) this.#pods.set(held.uid, held);
    return this.#save();
  }

  /**
   * Holds Pods otherwise in the place of `held`, once that is on disk: what nothing may be done about before. Answers false when
   * `held` was changed meanwhile, and its change stands. Rejects, with everything as it was, when it cannot be written.
   */
  async replaceDurably(held: AssignedPod, ...pods: AssignedPod[]): Promise<boolean> {
    const file = this.#file;
    const isAsItWas = () => this.#pods.get(held.uid) === held;
    if (file) {
      await this.#afterWrites(async () => {
        // A write that was to come before this one has its change, and nothing would write that once more.
        if (!isAsItWas()) return;
        const all = new Map([...this.#pods, ...pods.map((each) => [each.uid, each] as const)]);
        await file.write(encode({ ...this.#position, pods: [...all.values()] }));
      });
    }
    // What changed it while that was written is to be written as well, behind this.
    if (!isAsItWas()) return false;
    for (const each of pods) this.#pods.set(each.uid, each);
    return true;
  }

  /** Calls the listener whenever a Pod was forgotten. */
  onForget(listener: () => void): void {
    this.#forgetListeners.push(listener);
  }

  /** Drops a Pod whose containers are gone. Losing this write costs a second look at it, so nobody need wait for it. */
  forget(uid: string): void {
    if (!this.#pods.delete(uid)) return;
    this.#saveSoon(uid);
    for (const listener of this.#forgetListeners) listener();
  }

  /** Resolves when everything so far is on disk. */
  flush(): Promise<void> {
    return this.#queued ?? this.#writing;
  }

  #saveSoon(uid: string): void {
    this.#save().catch((error: unknown) => this.#log.warn({ uid, err: error }, 'desired cache not written'));
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

  /** A disk that was full has room some time, and what it holds then is old: a Pod that has ended would run again. */
  #tryAgain(): void {
    this.#retry ??= this.#clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      this.#saveSoon('all');
    });
  }

  /** One write at a time; what changes meanwhile goes with the next one. */
  #save(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return Promise.resolve();
    this.#queued ??= this.#afterWrites(() => {
      this.#queued = undefined;
      const written = file.write(encode({ ...this.#position, pods: [...this.#pods.values()] }));
      written.catch(() => this.#tryAgain());
      return written;
    });
    return this.#queued;
  }

  #afterWrites(write: () => Promise<void>): Promise<void> {
    const written = this.#writing.catch(() => undefined).then(write);
    this.#writing = written;
    // Whoever wrote hears of it; this is for those who wait behind.
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

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** First line: format and checksum of the rest. */
function encode(content: Content): string {
  const body = JSON.stringify(content);
  return `${JSON.stringify({ format: FORMAT, sha256: checksum(body) })}\n${body}`;
}

function decode(text: string): Content | undefined {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  try {
    const { format, sha256 } = JSON.parse(text.slice(0, end)) as { format: number; sha256: string };
    if (format !== FORMAT || sha256 !== checksum(body)) return undefined;
    return JSON.parse(body) as Content;
  } catch {
    // Not our form: the same as a wrong checksum to the caller.
    return undefined;
  }
}
