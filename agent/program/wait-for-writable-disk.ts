/**
 * Restarts an agent that started on a read-only disk once the host may write there. The service has its own copy of the
 * mounts from its start, so it does not see when an operator remounts the disk.
 */
import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

const PERIOD_MS = 10_000;

/** Returns true if the host's first process, which has the current mounts, could write to the directory. */
export function hostMayWrite(directory: string): boolean {
  try {
    accessSync(join('/proc/1/root', resolve(directory)), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Checks every ten seconds and calls `onWritable` once. */
export function waitForWritableDisk(
  mayWrite: () => boolean,
  onWritable: () => void,
  clock: Clock,
): Component {
  let timer: Timer | undefined;
  const check = (): void => {
    if (mayWrite()) onWritable();
    else timer = clock.after(PERIOD_MS, check);
  };
  return {
    name: 'read-only start',
    start: () => {
      timer = clock.after(PERIOD_MS, check);
    },
    stop: () => timer?.cancel(),
  };
}
