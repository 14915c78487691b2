/** Durations as people type them. */
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import {
  loadCommandSettings,
  type SettingsOf,
  type SettingsSchema,
} from '../../../shared/process/settings/settings-schema.js';
import { ENVIRONMENT_PREFIX } from '../../coordinator-settings.js';

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `30m`, `24h` or `7d` in seconds, and 0. Throws `ExitError` that names the flag. */
export function durationSeconds(text: string, flag = '--ttl'): number {
  if (text === '0') return 0;
  const match = /^(\d+)([smhd])$/.exec(text);
  if (match) return Number(match[1]) * (UNIT_SECONDS[match[2] ?? ''] ?? 0);
  throw new ExitError(
    EXIT_CODES.usage,
    `${flag}: must be a duration such as 30m, 24h or 7d, or 0, not "${text}".`,
  );
}

/** Flags, then the environment, then the file that `--config` names. Throws `ExitError` with the name of a wrong one. */
export function readSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
): Promise<SettingsOf<Schema>> {
  return loadCommandSettings(schema, flags, ENVIRONMENT_PREFIX);
}
