/**
 * Structured logger: one JSON object on each line, with a constant `msg` and variable fields. Not a library, because
 * the common ones would be a seventh of the agent's code and a tenth of its start-up time.
 */

import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from '../system-error.js';
import { lineWriter } from './line-writer.js';
import { escapeControls } from './terminal-output.js';

/** Logs a message with or without fields. Errors belong in the field `err`. */
interface LogLine {
  (fields: Readonly<Record<string, unknown>>, msg: string): void;
  (msg: string): void;
}

export interface Logger {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
  /** Returns a logger that adds these fields to each line. */
  child(bindings: Record<string, unknown>): Logger;
}

/** Least severe first. */
const SEVERITIES = ['debug', 'info', 'warn', 'error'] as const;

type LogLevel = (typeof SEVERITIES)[number] | 'silent';

/** Fields whose values are redacted, at the top level and in nested objects. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'secret',
  'password',
  'credential',
  'authorization',
  'data',
  'stringData',
]);

/** Returns the logger of a program, which writes to stderr. Components use `log.child({ component })`. */
export function createLogger(level: LogLevel): Logger {
  return loggerOf(level, lineWriter(2), '');
}

/** Returns a logger that appends to a file of mode 0600. Creates missing directories. */
export function createFileLogger(path: string): Logger {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a', 0o600);
  return loggerOf('info', lineWriter(file), '');
}

/** Discards everything. For tests, and for tools that print results instead. */
export const silentLogger: Logger = createLogger('silent');

/** `bound` holds the fields of each line as JSON, such as `,"a":1`. */
function loggerOf(level: LogLevel, write: (line: string) => void, bound: string): Logger {
  const least = level === 'silent' ? SEVERITIES.length : SEVERITIES.indexOf(level);
  const [debug, info, warn, error] = SEVERITIES.map((severity, rank): LogLine => {
    if (rank < least) return () => undefined;
    return (fields: Readonly<Record<string, unknown>> | string, msg?: string) => {
      const [own, text] = typeof fields === 'string' ? ['', fields] : [membersOf(fields), msg];
      const time = new Date().toISOString();
      const line = `{"level":"${severity}","time":"${time}"${bound}${own},"msg":${JSON.stringify(text ?? '')}}\n`;
      write(escapeControls(line));
    };
  }) as [LogLine, LogLine, LogLine, LogLine];
  const child = (bindings: Record<string, unknown>) => loggerOf(level, write, bound + membersOf(bindings));
  return { debug, info, warn, error, child };
}

/** Returns the fields as JSON members, each after a comma. Secrets are redacted. */
function membersOf(fields: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const [name, value] of Object.entries(fields)) {
    const json = SECRET_FIELDS.has(name) ? '"[redacted]"' : jsonOf(value);
    if (json !== undefined) text += `,${JSON.stringify(name)}:${json}`;
  }
  return text;
}

function jsonOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return scalarOf(value);
  try {
    if (value instanceof Error) return JSON.stringify(loggedError(value));
    return JSON.stringify(value, (name, inner) => {
      if (name !== '' && SECRET_FIELDS.has(name)) return '[redacted]';
      return typeof inner === 'bigint' ? String(inner) : inner;
    });
  } catch {
    // The value has a cycle, or a getter that throws. The message must still be logged.
    return '"[unreadable]"';
  }
}

function scalarOf(value: unknown): string | undefined {
  return JSON.stringify(typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : value);
}

/** Returns the logged fields of an error. System errors have no stack, because they are no bugs. */
function loggedError(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { code, reason } = error as { code?: unknown; reason?: unknown };
  const why = cause instanceof Error ? cause.message : cause;
  return {
    type: name,
    message,
    code,
    reason,
    ...(why === undefined ? {} : { cause: String(why) }),
    ...(isSystemError(error) ? {} : { stack }),
  };
}
