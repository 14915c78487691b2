/** When this machine has nothing left to do: what an event set off in engines, agents and whoever listens is over. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const WINDOW_MS = 50;
/** Of one core, spent in a window. Engines and agents at rest take a tenth of that. */
const RESTING_SHARE = 0.2;
/** A machine that others use never rests; what is measured is done with after that all the same. */
const PATIENCE_MS = 1_000;
/** `/proc/stat` (proc(5)): hundredths of a second. */
const TICK_MS = 10;
/** Columns of `/proc/stat` that are no work: idle and iowait. */
const IDLE_COLUMNS = [3, 4];

/** Resolves when all cores together did next to nothing for a moment; answers false when that never came. */
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
