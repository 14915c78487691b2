/**
 * An agent that began on a read-only disk begins anew once the host may write there. As a service it sees the mounts as they were at
 * its start: who makes the disk writable again changes those of the host, not its own.
 */
import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

const PERIOD_MS = 10_000;

/** Whether the host's first process, which sees its mounts as they are, could write to the directory. */
export function hostMayWrite(directory: string): boolean {
  try {
    accessSync(join('/proc/1/root', resolve(directory)), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Asks every ten seconds, and calls `onWritable` once. */
export function waitForWritableDisk(
  mayWrite: () => boolean,
  onWritable: () => void,
  clock: Clock,
): Component {
  let timer: Timer | undefined;
  const look = (): void => {
    if (mayWrite()) onWritable();
    else timer = clock.after(PERIOD_MS, look);
  };
  return {
    name: 'read-only start',
    start: () => {
      timer = clock.after(PERIOD_MS, look);
    },
    stop: () => timer?.cancel(),
  };
}
