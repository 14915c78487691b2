/** The settings of a coordinator's command. */
import {
  loadCommandSettings,
  type SettingsOf,
  type SettingsSchema,
} from '../../../shared/process/settings/settings-schema.js';
import { ENVIRONMENT_PREFIX } from '../../coordinator-settings.js';

/** Flags, then the environment, then the file that `--config` names. Throws `ExitError` with the name of a wrong one. */
export function readSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
): Promise<SettingsOf<Schema>> {
  return loadCommandSettings(schema, flags, ENVIRONMENT_PREFIX);
}
