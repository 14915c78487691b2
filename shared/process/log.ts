/** The structured logger: one JSON line an event, `msg` constant text, values as fields. */
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'> & {
  child(bindings: Record<string, unknown>): Logger;
};

/** Field names whose values never reach a log line, at the top or one level down. */
const SECRET_FIELDS = ['token', 'secret', 'password', 'credential', 'authorization', 'data', 'stringData'];

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** A logger for one program; components take `log.child({ component })`. Writes to stderr. */
export function createLogger(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** Swallows everything: for tests and for tools that print results instead. */
export const silentLogger: Logger = createLogger('silent');
