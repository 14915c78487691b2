/** Settings of this program as arguments and variables for a child process. Pure. */
import { flagName, type SettingsSchema } from '../../../shared/process/settings/settings-schema.js';

/** Returns flags for the values that differ from the default, without the keys in `except`. */
export function settingFlags(
  schema: SettingsSchema,
  values: Readonly<Record<string, unknown>>,
  except: readonly string[],
): string[] {
  return Object.entries(schema).flatMap(([key, setting]) => {
    const value = values[key];
    const isDefault = value === undefined || JSON.stringify(value) === JSON.stringify(setting.default);
    if (isDefault || setting.secretVariables || except.includes(key)) return [];
    return setting.placeholder ? [flagName(key), textOf(value)] : [flagName(key)];
  });
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return String(value);
  return Object.entries(value)
    .map(([name, item]) => `${name}=${String(item)}`)
    .join(',');
}
