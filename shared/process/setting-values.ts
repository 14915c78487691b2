/** The kinds of value a setting can have; each makes a `Setting` of the schema. */
import type { Setting } from './settings.js';

/** Any text. */
export function textSetting(meaning: string, placeholder: string, fallback: string): Setting<string> {
  return { meaning, placeholder, default: fallback, read: (text) => text };
}

/** Text that has no default. */
export function optionalText(meaning: string, placeholder: string): Setting<string | undefined> {
  return { meaning, placeholder, default: undefined, read: (text) => text };
}

/** One of a few words. */
export function choiceSetting<const Choice extends string>(
  meaning: string,
  choices: readonly Choice[],
  fallback: Choice,
): Setting<Choice> {
  return {
    meaning,
    placeholder: choices.join('|'),
    default: fallback,
    read: (text) => {
      const found = choices.find((choice) => choice === text);
      if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
      return found;
    },
  };
}

/** A whole number between two bounds, both included. */
export function integerSetting(
  meaning: string,
  placeholder: string,
  bounds: { min: number; max: number; default: number },
): Setting<number> {
  return {
    meaning,
    placeholder,
    default: bounds.default,
    read: (text) => {
      const value = Number(text);
      if (text.trim() === '' || !Number.isInteger(value) || value < bounds.min || value > bounds.max) {
        throw new Error(`must be a whole number from ${bounds.min} to ${bounds.max}`);
      }
      return value;
    },
  };
}

/** A number, fractions included, between two bounds that both count. */
export function numberSetting(
  meaning: string,
  placeholder: string,
  bounds: { min: number; max: number; default: number },
): Setting<number> {
  return {
    meaning,
    placeholder,
    default: bounds.default,
    read: (text) => {
      const value = Number(text);
      if (text.trim() === '' || !(value >= bounds.min && value <= bounds.max)) {
        throw new Error(`must be a number from ${bounds.min} to ${bounds.max}`);
      }
      return value;
    },
  };
}

/** Text of a form of its own; `check` throws an Error that says what is expected. */
export function checkedText(
  meaning: string,
  placeholder: string,
  fallback: string,
  check: (text: string) => unknown,
): Setting<string> {
  const read = (text: string): string => {
    check(text);
    return text;
  };
  return { meaning, placeholder, default: fallback, read };
}

/** A switch, off unless given; `true` or `false` in the environment and the file. */
export function switchSetting(meaning: string): Setting<boolean> {
  return {
    meaning,
    default: false,
    read: (text) => {
      if (text !== 'true' && text !== 'false') throw new Error('must be true or false');
      return text === 'true';
    },
  };
}
