/** Ages as kubectl shows them (apimachinery pkg/util/duration HumanDuration): at most two units. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

function twoUnits(seconds: number, unit: number, sign: string, part: number, partSign: string): string {
  const rest = Math.floor((seconds % unit) / part);
  return `${Math.floor(seconds / unit)}${sign}${rest > 0 ? `${rest}${partSign}` : ''}`;
}

/** Returns for example `95s`, `4m44s`, `75m`, `3h5m`, `30h`, `5d2h`, `400d`, `3y10d`, or `<invalid>` below −1 s. */
export function durationText(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return twoUnits(seconds, MINUTE, 'm', 1, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return twoUnits(seconds, HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return twoUnits(seconds, DAY, 'd', HOUR, 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return twoUnits(seconds, YEAR, 'y', DAY, 'd');
  return `${Math.floor(seconds / YEAR)}y`;
}

/** Returns the time since `timestamp`, or `<unknown>` if absent. `now` in ms since the epoch. */
export function ageText(timestamp: string | null | undefined, now: number): string {
  return timestamp ? durationText(now - Date.parse(timestamp)) : '<unknown>';
}
