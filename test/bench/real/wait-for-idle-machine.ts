/** Waits until this machine is idle, so that the effects of an event in engines, agents and watchers are over. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const WINDOW_MS = 50;
/** Share of one core in a window. Idle engines and agents use a tenth of that. */
const RESTING_SHARE = 0.2;
/** Timeout: a shared machine may never be idle, and most effects are over after that time. */
const PATIENCE_MS = 1_000;
/** `/proc/stat` (proc(5)): hundredths of a second. */
const TICK_MS = 10;
/** Columns of `/proc/stat` for idle time: idle and iowait. */
const IDLE_COLUMNS = [3, 4];

/** Resolves with true when all cores together are almost idle for one window, or with false after the timeout. */
export async function waitForIdleMachine(): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  for (let before = busyMs(); performance.now() < end; ) {
    await pause(WINDOW_MS);
    const now = busyMs();
    if (now - before <= RESTING_SHARE * WINDOW_MS) return true;
    before = now;
  }
  return false;
}

function busyMs(): number {
  const [all = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const ticks = all.trim().split(/\s+/).slice(1).map(Number);
  const busy = ticks.filter((_, column) => !IDLE_COLUMNS.includes(column));
  return busy.reduce((sum, each) => sum + each, 0) * TICK_MS;
}
