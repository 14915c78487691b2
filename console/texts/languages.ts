/** Languages of the console, and which one a browser gets. */

/** BCP 47 tags with the name of each language in itself. English is complete; the others fall back to it. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  id: 'Bahasa Indonesia',
  ko: '한국어',
  'zh-Hans': '简体中文',
} as const;

export type Language = keyof typeof LANGUAGES;

export const LANGUAGE_TAGS = Object.keys(LANGUAGES) as Language[];

/** Returns the stored language, or else the first of the browser's preferred ones that exists here. Pure. */
export function chooseLanguage(stored: string | null, preferred: readonly string[]): Language {
  const chosen = LANGUAGE_TAGS.find((tag) => tag === stored);
  return chosen ?? preferred.map(languageOf).find((tag) => tag !== undefined) ?? 'en';
}

/**
 * Returns the tag for formats of times: the browser's, if it is of the same language. `en-GB` writes dates in another
 * order than `en`. Pure.
 */
export function formatTag(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => languageOf(tag) === language) ?? language;
}

/** `zh-TW` is written in traditional characters, which the simplified catalogue does not serve. */
function languageOf(tag: string): Language | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return LANGUAGE_TAGS.find((known) => known === language || known === `${language}-${script}`);
  } catch {
    // A browser extension can put anything into `navigator.languages`.
    return undefined;
  }
}
