/** Parsers of command line options. */
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import {
  loadCommandSettings,
  type SettingsOf,
  type SettingsSchema,
} from '../../../shared/process/settings/settings-schema.js';
import { ENVIRONMENT_PREFIX } from '../../coordinator-settings.js';

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns `30m`, `24h`, `7d` or `0` in seconds. Throws `ExitError` with the flag's name. */
export function durationSeconds(text: string, flag = '--ttl'): number {
  if (text === '0') return 0;
  const match = /^(\d+)([smhd])$/.exec(text);
  if (match) return Number(match[1]) * (UNIT_SECONDS[match[2] ?? ''] ?? 0);
  throw new ExitError(
    EXIT_CODES.usage,
    `${flag}: must be a duration such as 30m, 24h or 7d, or 0, not "${text}".`,
  );
}

/**
 * Reads flags, then the environment, then the file of `--config`. Throws `ExitError` with the name of an invalid
 * setting.
 */
export function readSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
): Promise<SettingsOf<Schema>> {
  return loadCommandSettings(schema, flags, ENVIRONMENT_PREFIX);
}
