/** Components of the agent that do something only when it stops. */
import type { Component } from '../../shared/process/service/program-lifecycle.js';

/** Returns components that are started elsewhere and stop with the agent. */
export function stoppedAtEnd(parts: Readonly<Record<string, { stop(): Promise<void> | void }>>): Component[] {
  return Object.entries(parts).map(([name, part]) => ({ name, stop: () => part.stop() }));
}

/** Returns components that hold connections or files, to be closed with the agent. */
export function closedAtEnd(parts: Readonly<Record<string, { close(): Promise<void> | void }>>): Component[] {
  return Object.entries(parts).map(([name, part]) => ({ name, stop: () => part.close() }));
}

/** Returns components that write the last changes to the disk. */
export function flushedAtEnd(files: Readonly<Record<string, { flush(): Promise<void> }>>): Component[] {
  return Object.entries(files).map(([name, file]) => ({ name, stop: () => file.flush() }));
}
