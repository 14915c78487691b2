/** Texts of the console in the chosen language. The English text is the key of its translations. */
import { createInstance } from 'i18next';
import type { Counted, Text } from './catalogues/catalogue.js';
import { COUNTED } from './catalogues/english-counted.js';
import type { Language } from './languages.js';

export const NAMESPACE = 'console';

type Values = Readonly<Record<string, string | number>>;

/** The library selects plural forms with `Intl.PluralRules`. Only counted texts need an English catalogue. */
export const texts = createInstance({
  lng: 'en',
  fallbackLng: 'en',
  ns: NAMESPACE,
  defaultNS: NAMESPACE,
  // English sentences contain dots and colons.
  keySeparator: false,
  nsSeparator: false,
  // React escapes.
  interpolation: { escapeValue: false },
  resources: { en: { [NAMESPACE]: COUNTED } },
  initAsync: false,
});
void texts.init();

/** Returns the text with its values. */
export function t(text: Text, values: Values = {}): string {
  return texts.t(text, { ...values });
}

/** Returns the form of the text for `count`, for example `1 host` and `2 hosts`. */
export function counted(text: Counted, count: number, values: Values = {}): string {
  return texts.t(text, { ...values, count });
}

/**
 * Returns the translation of a word that is known only at run time, such as a state. Returns a word without one as it
 * is: names and reasons come from the API, and braces in them must not be read as placeholders.
 */
export function translated(word: string): string {
  const found: unknown = texts.getResource(texts.language, NAMESPACE, word);
  return typeof found === 'string' ? found : word;
}

export function currentLanguage(): Language {
  return texts.language as Language;
}

/** The tag to pass to `Intl`. Undefined until a language is loaded: `Intl` uses the browser's then. */
let formats: string | undefined;

export function currentFormatTag(): string | undefined {
  return formats;
}

export function setFormatTag(tag: string): void {
  formats = tag;
}
