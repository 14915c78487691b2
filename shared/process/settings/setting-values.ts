/** Types of settings. Each function returns a `Setting` for a schema. */
import type { Setting } from './settings-schema.js';

export function textSetting(meaning: string, placeholder: string, fallback: string): Setting<string> {
  return { description: meaning, placeholder, default: fallback, read: (text) => text };
}

export function optionalTextSetting(meaning: string, placeholder: string): Setting<string | undefined> {
  return { description: meaning, placeholder, default: undefined, read: (text) => text };
}

/** A secret text that can only be set in this environment variable. */
export function secretTextSetting(variable: string): Setting<string | undefined> {
  return { description: '', default: undefined, secretVariables: [variable], read: (text) => text };
}

/** A setting that only these variables set, because its value may contain a password. */
export function environmentSetting<T>(
  variables: readonly string[],
  read: (text: string) => T,
): Setting<T | undefined> {
  return { description: '', default: undefined, secretVariables: variables, read };
}

export function choiceSetting<const Choice extends string>(
  meaning: string,
  choices: readonly Choice[],
  fallback: Choice,
): Setting<Choice> {
  return {
    description: meaning,
    placeholder: choices.join('|'),
    default: fallback,
    read: (text) => {
      const found = choices.find((choice) => choice === text);
      if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
      return found;
    },
  };
}

/** The allowed range, both ends included, and the default. */
interface Bounds {
  min: number;
  max: number;
  default: number;
}

export function integerSetting(meaning: string, placeholder: string, bounds: Bounds): Setting<number> {
  return boundedSetting(meaning, placeholder, bounds, 'a whole number', Number.isInteger);
}

/** A number in a range. Fractions are allowed. */
export function numberSetting(meaning: string, placeholder: string, bounds: Bounds): Setting<number> {
  return boundedSetting(meaning, placeholder, bounds, 'a number', (value) => !Number.isNaN(value));
}

function boundedSetting(
  meaning: string,
  placeholder: string,
  { min, max, default: fallback }: Bounds,
  kind: string,
  isOfKind: (value: number) => boolean,
): Setting<number> {
  const read = (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !isOfKind(value) || value < min || value > max) {
      throw new Error(`must be ${kind} from ${min} to ${max}`);
    }
    return value;
  };
  return { description: meaning, placeholder, default: fallback, read };
}

/** Text with a format. `check` throws an Error that describes the expected format. */
export function checkedTextSetting(
  meaning: string,
  placeholder: string,
  fallback: string,
  check: (text: string) => unknown,
): Setting<string> {
  const read = (text: string): string => {
    check(text);
    return text;
  };
  return { description: meaning, placeholder, default: fallback, read };
}

/** A switch that is off by default. The environment and the file use `true` or `false`. */
export function switchSetting(meaning: string): Setting<boolean> {
  return {
    description: meaning,
    default: false,
    read: (text) => {
      if (text !== 'true' && text !== 'false') throw new Error('must be true or false');
      return text === 'true';
    },
  };
}
