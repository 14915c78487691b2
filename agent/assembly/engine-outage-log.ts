/** Logs one line when the container engine becomes unreachable and one when it is back. */
import type { Logger } from '../../shared/process/output/logger.js';
import { isEngineDown } from '../pods/steps/engine-attempts.js';

type EngineChange =
  | { kind: 'up'; info: { name: string; version: string } }
  | { kind: 'down'; message: string };

/** Logs that the engine is unreachable, or that it is back. */
export function logEngineChange(health: EngineChange, log: Logger): void {
  if (health.kind === 'down') {
    log.error({ reason: health.message }, 'the container engine is down; retrying until it answers');
  } else {
    const { name, version } = health.info;
    log.info({ engine: name, version }, 'the container engine answers again');
  }
}

/**
 * Returns `log` with errors of an engine outage demoted to debug. During an outage every request fails repeatedly;
 * these lines would only repeat what `logEngineChange` has logged.
 */
export function demoteOutageErrors(log: Logger): Logger {
  const unlessOutage =
    (line: Logger['warn']): Logger['warn'] =>
    (fields: Readonly<Record<string, unknown>> | string, msg?: string): void => {
      if (typeof fields === 'string') line(fields);
      else if (isEngineDown(fields.err) || fields.reason === 'EngineDown') log.debug(fields, msg ?? '');
      else line(fields, msg ?? '');
    };
  return {
    ...log,
    warn: unlessOutage(log.warn),
    error: unlessOutage(log.error),
    child: (bindings) => demoteOutageErrors(log.child(bindings)),
  };
}
