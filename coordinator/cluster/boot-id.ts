/** Identifies a boot of this machine, so that a leader that crashed and is started again ends its own leadership. */
import { readFileSync, statSync } from 'node:fs';
import type { Clock } from '../../shared/process/time/clock.js';

export const BOOT_ID_VARIABLE = 'EVERYNODE_BOOT_ID';

/**
 * Names this boot of the machine and the directory: a copy of the directory is another one. Without the name of the
 * boot, such as in a container without /proc, no ended process is recognized.
 */
export function bootId(dataDir: string, clock: Clock): string {
  try {
    const { dev, ino } = statSync(dataDir);
    // The systemd unit hides /proc/sys from the service and passes the id in the environment.
    const boot =
      process.env[BOOT_ID_VARIABLE] ?? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}.${dev}.${ino}`;
  } catch {
    return `${process.pid}-${clock.now()}`;
  }
}
