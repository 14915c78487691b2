/** The audit log on the disk: one JSON line an event, mode 0600, bounded in size and in files. */
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
  /** The file begins anew beyond this. */
  maxBytes: number;
  /** Older files that are kept. */
  maxFiles: number;
}

/** Where events go. */
export interface AuditSink {
  newId(): string;
  record(event: AuditEvent): void;
}

/** Events that can be read back. */
export interface AuditLog extends AuditSink {
  readonly path: string;
  /** Resolves when everything recorded so far is in the file, or could not be written. */
  flush(): Promise<void>;
}

export class AuditFile implements AuditLog {
  readonly #settings: AuditFileSettings;
  readonly #log: Logger;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  /** Of the file now; unknown until the first write. */
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
    // Lets everything of this turn into the first write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0);
      try {
        await this.#append(lines.join(''));
      } catch (error) {
        this.#bytes = undefined;
        this.#log.error({ err: error, events: lines.length }, 'audit events could not be written');
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
      // What a crash left half written becomes a line of its own.
      await file.appendFile(isFirst && this.#bytes > 0 ? `\n${text}` : text);
    } finally {
      await file.close();
    }
    this.#bytes = (this.#bytes ?? 0) + Buffer.byteLength(text);
  }

  /** `audit.log` becomes `audit.log.1`, that one `audit.log.2`, and the oldest goes. */
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

/** All events that are still there, the oldest first. A line that was cut by a crash is left out. */
export async function* readAudit(path: string): AsyncGenerator<AuditEvent, void> {
  for (const file of await auditFiles(path)) {
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) {
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
    // Half a line: the coordinator died while it wrote.
    return undefined;
  }
}

/** The oldest first. */
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
