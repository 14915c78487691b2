/** Records which images this agent pulled, across restarts. The agent must never remove any other image. */
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';

/** Times are ms since the epoch, by the host's wall clock. */
interface ImageRecord {
  pulledAt: number;
  /** When it was last seen in use. 0 = never. */
  lastUsedAt: number;
}

/** By the engine's name. The file is written with each pull and removal, so times of use in it may be old. */
export class ImageRecords {
  readonly #path: string | undefined;
  readonly #records: Map<string, ImageRecord>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string | undefined, records: Map<string, ImageRecord>) {
    this.#path = path;
    this.#records = records;
  }

  /** A missing or damaged file means no images: images from before are then never removed. */
  static async open(path: string): Promise<ImageRecords> {
    return new ImageRecords(path, read(await readIfPresent(path)));
  }

  /** Returns records that are never written to disk, for simulated hosts. */
  static inMemory(): ImageRecords {
    return new ImageRecords(undefined, new Map());
  }

  all(): ReadonlyMap<string, ImageRecord> {
    return this.#records;
  }

  /** A repeated pull makes the image count as new. */
  recordPull(name: string, now: number): Promise<void> {
    const lastUsedAt = this.#records.get(name)?.lastUsedAt ?? 0;
    this.#records.set(name, { pulledAt: now, lastUsedAt });
    return this.#save();
  }

  recordUse(name: string, now: number): void {
    const record = this.#records.get(name);
    if (record) record.lastUsedAt = now;
  }

  forget(names: readonly string[]): Promise<void> {
    const known = names.filter((name) => this.#records.delete(name));
    return known.length > 0 ? this.#save() : Promise.resolve();
  }

  #save(): Promise<void> {
    const path = this.#path;
    if (path === undefined) return Promise.resolve();
    const text = JSON.stringify(Object.fromEntries(this.#records));
    this.#writing = this.#writing.catch(() => undefined).then(() => writePrivateFile(path, text));
    return this.#writing;
  }
}

function read(text: string | undefined): Map<string, ImageRecord> {
  try {
    return new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, ImageRecord>));
  } catch {
    return new Map();
  }
}
