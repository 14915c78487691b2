/** One log line when the container engine stops answering and one when it answers again. */
import type { Logger } from '../../shared/process/output/logger.js';
import { isEngineDown } from '../pods/steps/engine-down.js';

/** A change of the engine's health, with the fields that are logged. */
type EngineChange =
  | { kind: 'up'; info: { name: string; version: string } }
  | { kind: 'down'; message: string };

/** Logs that the engine stopped answering, or that it answers again. */
export function logEngineChange(health: EngineChange, log: Logger): void {
  if (health.kind === 'down') {
    log.error({ reason: health.message }, 'the container engine is down; asking until it answers');
  } else {
    const { name, version } = health.info;
    log.info({ engine: name, version }, 'the container engine answers again');
  }
}

/**
 * `log`, with failures caused by an engine outage at level debug. During an outage everything that asks the engine
 * fails, again and again: each of these lines would repeat what `logEngineChange` has logged once.
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
