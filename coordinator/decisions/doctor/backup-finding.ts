/** Finding about the age of the newest backup. */
import type { Finding } from '../../../shared/doctor/finding.js';
import type { BackupFact } from './coordinator-facts.js';

const HOUR_MS = 60 * 60_000;

export function backupFinding(backup: BackupFact, now: number): Finding {
  const check = 'backup';
  const take = 'Take one: everynode backup --to FILE, and copy it to another machine.';
  switch (backup.state) {
    case 'noData':
      return { check, found: 'none needed yet', result: 'ok' };
    case 'off': {
      const newest =
        backup.newestAt === undefined ? 'none found' : `newest ${ageText(now - backup.newestAt)} old`;
      return { check, found: `scheduled backups are off; ${newest}`, result: 'warning', remedy: take };
    }
    case 'scheduled': {
      const { directory, newestAt, missedAt } = backup;
      if (newestAt === undefined) {
        const remedy = `The next scheduled one is written to ${directory}. ${take}`;
        return { check, found: 'there is none', result: 'warning', remedy };
      }
      const found = `the newest in ${directory} is ${ageText(now - newestAt)} old`;
      if (missedAt === undefined || missedAt > now) return { check, found, result: 'ok' };
      const remedy = 'Check that the coordinator runs, and look for "scheduled job failed" in its log.';
      return { check, found: `${found}: two are missing`, result: 'warning', remedy };
    }
  }
}

function ageText(ageMs: number): string {
  const hours = Math.max(0, Math.round(ageMs / HOUR_MS));
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
