/** The structured logger: one JSON line an event, `msg` constant text, values as fields. */
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'> & {
  child(bindings: Record<string, unknown>): Logger;
};

/** Field names whose values never reach a log line, at the top or one level down. */
const SECRET_FIELDS = ['token', 'secret', 'password', 'credential', 'authorization', 'data', 'stringData'];

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

function writeTo(
  level: LogLevel,
  destination: { fd: number } | { dest: string; mkdir: true; mode: number },
): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    },
    pino.destination({ ...destination, sync: true }),
  );
}

/** A logger for one program; components take `log.child({ component })`. Writes to stderr. */
export function createLogger(level: LogLevel): Logger {
  return writeTo(level, { fd: 2 });
}

/** Appends to a file that only its owner can read; made with its directory when it is missing. */
export function createFileLogger(path: string): Logger {
  return writeTo('info', { dest: path, mkdir: true, mode: 0o600 });
}

/** Swallows everything: for tests and for tools that print results instead. */
export const silentLogger: Logger = createLogger('silent');
