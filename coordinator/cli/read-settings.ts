/** The settings of a coordinator's command: the one place that reads the environment. */
import { loadSettings, type SettingsOf, type SettingsSchema } from '../../shared/process/settings.js';
import { ENVIRONMENT_PREFIX } from '../settings.js';

/** Flags, then the environment, then the file that `--config` names. Throws `ExitError` with the name of a wrong one. */
export function readSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
): Promise<SettingsOf<Schema>> {
  return loadSettings(schema, {
    flags,
    environment: process.env,
    environmentPrefix: ENVIRONMENT_PREFIX,
    file: typeof flags.config === 'string' ? flags.config : undefined,
  });
}
