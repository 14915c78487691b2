/**
 * Returns memory of a standby to the system. A start loads the whole program and leaves 20 MB of garbage, which V8 keeps
 * in a process that does almost nothing afterwards.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Clock, every } from '../../../shared/process/time/clock.js';

/** A standby allocates a few MB in this time. A collection takes about 50 ms. */
const INTERVAL_MS = 120_000;
/** When the start is over. */
const FIRST_MS = 5_000;

/** Collects garbage until the returned function is called. */
export function keepStandbySmall(clock: Clock): () => void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const first = clock.after(FIRST_MS, collect);
  const stop = every(clock, INTERVAL_MS, collect);
  return () => {
    first.cancel();
    stop();
  };
}
