/** A crowd that connects and says nothing, in a process of its own: so many descriptors are too many for one. */
import { type ChildProcess, fork } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export interface IdleConnectionsOrder {
  port: number;
  count: number;
  /** Their own addresses, by turns. */
  from: readonly string[];
}

/** How many came in so far, and how many of them have not been closed. */
export interface IdleConnectionsCount {
  opened: number;
  open: number;
}

/** Begins to connect at once; leaves with the test. */
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
