/** Settings from flag, environment, YAML file or default, in this order. Validated and frozen. */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { closest } from 'fastest-levenshtein';
import { EXIT_CODES, ExitError } from '../exit-error.js';

/** One setting. The key is camelCase: `logLevel` is `--log-level`, `PREFIX_LOG_LEVEL`, and `logLevel:` in the file. */
export interface Setting<T> {
  /** Text for --help: the purpose, with its unit. */
  description: string;
  /** Placeholder of the value in --help, such as `DIR`. Absent for a switch without a value. */
  placeholder?: string;
  default: T;
  /**
   * For a secret: the only variables that set it; the first of them counts. There is no flag, because every user of a
   * machine can read the arguments of a process, and no key in the settings file. The variables are removed after
   * reading, so that child processes do not inherit them.
   */
  secretVariables?: readonly string[];
  /** Parses the text of a flag, variable or file. Throws an Error that describes the expected value. */
  read(text: string): T;
}

export type SettingsSchema = Record<string, Setting<unknown>>;

export type SettingsOf<Schema extends SettingsSchema> = Readonly<{
  [Key in keyof Schema]: Schema[Key] extends Setting<infer T> ? T : never;
}>;

interface SettingsSources {
  /** Flags as parsed by commander: by camelCase key, absent if not set. */
  flags: Record<string, unknown>;
  environment: Record<string, string | undefined>;
  /** For example `EVERYNODE_AGENT`. */
  environmentPrefix: string;
  /** Path of a YAML file, if the user named one. */
  file?: string | undefined;
}

function words(key: string, separator: string): string {
  return key.replace(/[A-Z]/g, (letter) => `${separator}${letter.toLowerCase()}`);
}

/** `logLevel` as `--log-level`. */
export function flagName(key: string): string {
  return `--${words(key, '-')}`;
}

/** `logLevel` as `PREFIX_LOG_LEVEL`. */
export function variableName(prefix: string, key: string): string {
  return `${prefix}_${words(key, '_').toUpperCase()}`;
}

/** Declares a flag for each setting of the schema. */
export function addSettingFlags(command: Command, schema: SettingsSchema): Command {
  for (const [key, setting] of Object.entries(schema)) {
    if (setting.secretVariables) continue;
    const shown = setting.default === undefined || setting.default === false ? '' : describe(setting.default);
    const flag = setting.placeholder ? `${flagName(key)} <${setting.placeholder}>` : flagName(key);
    command.addOption(new Option(flag, `${setting.description}${shown && ` (default ${shown})`}`));
  }
  return command;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? Object.entries(value ?? {}).join(',') : String(value);
}

function readOne<T>(setting: Setting<T>, text: string, source: string): T {
  try {
    return setting.read(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `${source}: ${why}, not ${JSON.stringify(text)}.`);
  }
}

/** Throws `ExitError` without the text. */
function readSecret<T>(setting: Setting<T>, environment: SettingsSources['environment']): T {
  const variable = setting.secretVariables?.find((each) => environment[each] !== undefined);
  if (variable === undefined) return setting.default;
  try {
    return setting.read(environment[variable] ?? '');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `${variable}: ${why}.`);
  }
}

async function readSettingsFile(path: string, schema: SettingsSchema): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ExitError(EXIT_CODES.usage, `The settings file ${path} cannot be read: ${error.message}.`);
  });
  // Loaded on demand: most agents have no settings file and should not load a YAML parser.
  const { parse } = await import('yaml');
  const values: unknown = (() => {
    try {
      return parse(text);
    } catch (error) {
      const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
      throw new ExitError(EXIT_CODES.usage, `The settings file ${path} is not valid YAML: ${why}`);
    }
  })();
  if (values === null || values === undefined) return {};
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new ExitError(EXIT_CODES.usage, `The settings file ${path} must contain a map of settings.`);
  }
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(schema, key)) {
      const nearest = closest(key, Object.keys(schema));
      throw new ExitError(EXIT_CODES.usage, `${path}: unknown setting "${key}", did you mean "${nearest}"?`);
    }
    const [variable] = schema[key]?.secretVariables ?? [];
    if (variable) {
      throw new ExitError(EXIT_CODES.usage, `${path}: "${key}" is a secret; set it with ${variable}.`);
    }
  }
  return { ...values };
}

function fileText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (value !== null && typeof value === 'object') {
    return Object.entries(value)
      .map(([name, item]) => `${name}=${String(item)}`)
      .join(',');
  }
  return String(value);
}

/** Reads each setting from the first source that has it. Throws `ExitError` with the name of an invalid setting. */
export async function loadSettings<Schema extends SettingsSchema>(
  schema: Schema,
  sources: SettingsSources,
): Promise<SettingsOf<Schema>> {
  const fromFile = sources.file ? await readSettingsFile(sources.file, schema) : {};
  const entries = Object.entries(schema).map(([key, setting]) => {
    if (setting.secretVariables) return [key, readSecret(setting, sources.environment)];
    const flag = sources.flags[key];
    if (flag !== undefined) return [key, readOne(setting, String(flag), flagName(key))];
    const variable = variableName(sources.environmentPrefix, key);
    const text = sources.environment[variable];
    if (text !== undefined) return [key, readOne(setting, text, variable)];
    if (Object.hasOwn(fromFile, key))
      return [key, readOne(setting, fileText(fromFile[key]), `${sources.file}: ${key}`)];
    return [key, setting.default];
  });
  return Object.freeze(Object.fromEntries(entries)) as SettingsOf<Schema>;
}

/** Loads the settings of a command with flag `--config`. Only this code reads settings from the environment. */
export function loadCommandSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
  environmentPrefix: string,
): Promise<SettingsOf<Schema>> {
  const file = typeof flags.config === 'string' ? flags.config : undefined;
  const environment = { ...process.env };
  for (const { secretVariables = [] } of Object.values(schema)) {
    for (const variable of secretVariables) delete process.env[variable];
  }
  return loadSettings(schema, { flags, environment, environmentPrefix, file });
}
