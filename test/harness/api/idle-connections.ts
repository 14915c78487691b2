/**
 * Many connections that send nothing. They are in a process of their own, because one process has too few descriptors.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export interface IdleConnectionsOrder {
  port: number;
  count: number;
  /** Source addresses, used in rotation. */
  from: readonly string[];
}

/** The number of connections that were opened, and of those still open. */
export interface IdleConnectionsCount {
  opened: number;
  open: number;
}

/** Starts connecting at once, and stops at the end of the test. */
export function idleConnections(context: TestContext, order: IdleConnectionsOrder) {
  let count: IdleConnectionsCount = { opened: 0, open: 0 };
  const program = fileURLToPath(new URL('./idle-connections-process.js', import.meta.url));
  const child: ChildProcess = fork(program);
  context.after(() => child.kill('SIGKILL'));
  child.on('message', (told) => {
    count = told as IdleConnectionsCount;
  });
  child.send(order);
  return { opened: () => count.opened, open: () => count.open };
}
