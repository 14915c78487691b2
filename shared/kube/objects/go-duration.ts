/** Durations in the format of Go and Kubernetes: `40s`, `1m30s`, `36h`, `1.5h`, `500ms` (Go time.ParseDuration). */

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/y;

/** Returns milliseconds, or undefined if invalid. `0` needs no unit. There are no days or negative durations. */
export function parseGoDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text === '') return undefined;
  let sum = 0;
  PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = PART.lastIndex) {
    const part = PART.exec(text);
    if (!part) return undefined;
    sum += Number(part[1]) * (UNIT_MS[part[2] ?? ''] ?? 0);
  }
  return Math.round(sum);
}

/** Parses a duration that a user entered. Throws an Error that names the expected format. */
export function readDuration(text: string, minMs = 0): number {
  const ms = parseGoDuration(text);
  if (ms === undefined) throw new Error('must be a duration such as 40s, 1m30s or 36h');
  if (ms < minMs) throw new Error(`must be a duration of at least ${goDurationText(minMs)}`);
  return ms;
}

/** Formats whole milliseconds like Go: `90000` becomes `1m30s`. */
export function goDurationText(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
