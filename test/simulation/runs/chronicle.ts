/**
 * The log of a history, in order. Two runs of one history have the same digest, unless a random choice lacks a seed.
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Timeline } from '../machines/timeline.js';

/** Errors that faults of a history bring about, and that the programs know. */
const EXPECTED = [
  'desired cache is damaged',
  'the disk of the coordinator is full',
  'the container engine is down',
  'nodeDeleted',
  'ENOSPC',
  'etcd does not answer',
  'etcd did not answer',
  'etcd has no space left',
  'this coordinator leads no longer',
];

export class Chronicle {
  readonly lines: string[] = [];
  /** Unexpected errors that a program logged. */
  readonly errors: string[] = [];
  readonly #timeline: Timeline;
  readonly #hash = createHash('sha256');

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  record(who: string, what: string): void {
    const line = `${(this.#timeline.now / 1000).toFixed(3).padStart(9)}  ${who.padEnd(12)} ${what}`;
    this.lines.push(line);
    this.#hash.update(line);
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** A program's log: what it says to operators becomes part of the chronicle. */
  logger(who: string, isOver: () => boolean): Logger {
    const at = (level: string) => {
      return (fields: unknown, message?: string): void => {
        if (isOver()) return;
        const text = `${level} ${typeof fields === 'string' ? fields : `${message} ${described(fields)}`}`;
        this.record(who, text);
        if (level === 'error' && !EXPECTED.some((part) => text.includes(part)))
          this.errors.push(`${who}: ${text}`);
      };
    };
    const logger: Logger = {
      debug: () => undefined,
      info: at('info') as Logger['info'],
      warn: at('warn') as Logger['warn'],
      error: at('error') as Logger['error'],
      child: () => logger,
    };
    return logger;
  }
}

function described(fields: unknown): string {
  return JSON.stringify(fields, (_, value: unknown) =>
    value instanceof Error ? `${value.name}: ${value.message}` : value,
  );
}
