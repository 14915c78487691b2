/**
 * The structured logger: one JSON line an event, `msg` constant text, values as fields. Written here and not taken from a
 * library, for one that can do more is a seventh of the agent's code and a tenth of its start.
 */

import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from '../system-error.js';
import { lineWriter } from './line-writer.js';
import { escapeControls } from './terminal-output.js';

/** With fields or without. An Error stands in the field `err`. */
interface LogLine {
  (fields: Readonly<Record<string, unknown>>, msg: string): void;
  (msg: string): void;
}

export interface Logger {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
  /** The same, with these fields in each line. */
  child(bindings: Record<string, unknown>): Logger;
}

/** Least severe first. */
const SEVERITIES = ['debug', 'info', 'warn', 'error'] as const;

type LogLevel = (typeof SEVERITIES)[number] | 'silent';

/** Field names whose values never reach a log line, at the top or one level down. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'secret',
  'password',
  'credential',
  'authorization',
  'data',
  'stringData',
]);

/** A logger for one program; components take `log.child({ component })`. Writes to stderr. */
export function createLogger(level: LogLevel): Logger {
  return loggerOf(level, lineWriter(2), '');
}

/** Appends to a file that only its owner can read; made with its directory when it is missing. */
export function createFileLogger(path: string): Logger {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a', 0o600);
  return loggerOf('info', lineWriter(file), '');
}

/** Swallows everything: for tests and for tools that print results instead. */
export const silentLogger: Logger = createLogger('silent');

/** `bound`: the fields of each line as JSON, `,"a":1`. */
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

/** The fields as they stand in a line, each after a comma; secrets are hidden, errors told with their stack. */
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
    if (value instanceof Error) return JSON.stringify(toldError(value));
    return JSON.stringify(value, (name, inner) => {
      if (name !== '' && SECRET_FIELDS.has(name)) return '[redacted]';
      return typeof inner === 'bigint' ? String(inner) : inner;
    });
  } catch {
    // In a circle, or one that does not want to be read: what it is for is told by the message.
    return '"[unreadable]"';
  }
}

function scalarOf(value: unknown): string | undefined {
  return JSON.stringify(typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : value);
}

/** As much of an error as is logged; its causes as their messages. An error of the system has no stack: it is not a mistake in the program. */
function toldError(error: Error): Record<string, unknown> {
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
