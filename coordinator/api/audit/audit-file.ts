/** The audit log on disk: one JSON line per event, mode 0600, with a limited file size and number of files. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import { makePrivateDirectory } from '../../../shared/process/files/private-file.js';
import type { Logger } from '../../../shared/process/output/logger.js';

interface AuditFileSettings {
  path: string;
  /** Above this size a new file is started. */
  maxBytes: number;
  /** Number of older files to keep. */
  maxFiles: number;
}

/** Accepts audit events. */
export interface AuditSink {
  newId(): string;
  record(event: AuditEvent): void;
}

/** An audit log that can be read. */
export interface AuditLog extends AuditSink {
  readonly path: string;
  /** Resolves when all recorded events have been written or have failed to be written. */
  flush(): Promise<void>;
}

export class AuditFile implements AuditLog {
  readonly #settings: AuditFileSettings;
  readonly #log: Logger;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  /** Size of the current file; undefined until the first write. */
  #bytes: number | undefined;

  constructor(settings: AuditFileSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log.child({ component: 'audit' });
  }

  get path(): string {
    return this.#settings.path;
  }

  newId(): string {
    return randomUUID();
  }

  record(event: AuditEvent): void {
    this.#waiting.push(`${JSON.stringify(event)}\n`);
    this.#writing ??= this.#run();
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async #run(): Promise<void> {
    // Collects all events of this turn of the event loop for the first write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      try {
        await this.#append(lines.join(''));
      } catch (error) {
        this.#bytes = undefined;
        this.#log.error({ err: error, events: lines.length }, 'failed to write audit events');
      }
    }
    this.#writing = undefined;
  }

  async #append(text: string): Promise<void> {
    const { path, maxBytes } = this.#settings;
    makePrivateDirectory(dirname(path));
    const isFirst = this.#bytes === undefined;
    this.#bytes ??= await sizeOf(path);
    if (this.#bytes > 0 && this.#bytes + text.length > maxBytes) await this.#rotate();
    const file = await open(path, 'a', 0o600);
    try {
      // After a crash the file may end with half a line. The newline keeps it apart from the next event.
      await file.appendFile(isFirst && this.#bytes > 0 ? `\n${text}` : text);
    } finally {
      await file.close();
    }
    this.#bytes = (this.#bytes ?? 0) + Buffer.byteLength(text);
  }

  /** Renames `audit.log` to `audit.log.1`, `audit.log.1` to `audit.log.2`, and so on. Deletes the oldest file. */
  async #rotate(): Promise<void> {
    const { path, maxFiles } = this.#settings;
    await rm(`${path}.${maxFiles}`, { force: true });
    for (let number = maxFiles - 1; number >= 1; number -= 1)
      await renameIfThere(`${path}.${number}`, `${path}.${number + 1}`);
    if (maxFiles > 0) await renameIfThere(path, `${path}.1`);
    else await rm(path, { force: true });
    this.#bytes = 0;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** True also for a file that was deleted just now. */
async function isOlder(file: string, since: number): Promise<boolean> {
  try {
    return (await stat(file)).mtimeMs < since;
  } catch (error) {
    if (isMissing(error)) return true;
    throw error;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** What is known of the wanted events. It saves most of the work in a log of a gigabyte. */
interface AuditSearch {
  /** Texts of fields. An event that lacks one of them is not decoded. */
  texts?: readonly string[];
  /** Ms since the epoch. Files that were last written before are not read. */
  since?: number | undefined;
}

/** Yields stored events, oldest first, also some that do not match. Skips lines that a crash has truncated. */
export async function* readAudit(
  path: string,
  { texts = [], since }: AuditSearch = {},
): AsyncGenerator<AuditEvent, void> {
  const words = texts.map((text) => JSON.stringify(text));
  for (const file of await auditFiles(path)) {
    if (since !== undefined && (await isOlder(file, since))) continue;
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) {
      if (!words.every((word) => line.includes(word))) continue;
      const event = eventIn(line);
      if (event) yield event;
    }
  }
}

function eventIn(line: string): AuditEvent | undefined {
  try {
    const event: unknown = JSON.parse(line);
    return typeof event === 'object' && event !== null && 'auditID' in event
      ? (event as AuditEvent)
      : undefined;
  } catch {
    // The coordinator crashed while it wrote this line.
    return undefined;
  }
}

/** Returns the paths, oldest file first. */
async function auditFiles(path: string): Promise<string[]> {
  const name = basename(path);
  const names = await namesIn(dirname(path));
  const numbers = names.flatMap((each) => {
    if (each === name) return [0];
    const number = each.startsWith(`${name}.`) ? Number(each.slice(name.length + 1)) : Number.NaN;
    return Number.isInteger(number) && number > 0 ? [number] : [];
  });
  const newestLast = numbers.sort((a, b) => b - a);
  return newestLast.map((number) => join(dirname(path), number === 0 ? name : `${name}.${number}`));
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
