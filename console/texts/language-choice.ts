/** The language of this browser: choice, catalogue and the attribute of the page. */
import { useSyncExternalStore } from 'react';
import { chooseLanguage, formatTag, type Language } from './languages.js';
import { currentLanguage, NAMESPACE, setFormatTag, texts } from './translate.js';

const STORED_AS = 'everynode-language';

/** Loaded on demand: a user needs one of them at most. */
const LOAD: Readonly<Record<Exclude<Language, 'en'>, () => Promise<object>>> = {
  de: async () => (await import('./catalogues/german.js')).GERMAN,
  id: async () => (await import('./catalogues/indonesian.js')).INDONESIAN,
  ko: async () => (await import('./catalogues/korean.js')).KOREAN,
  'zh-Hans': async () => (await import('./catalogues/chinese.js')).CHINESE,
};

/** Renders again when the language changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(onLanguageChange, currentLanguage);
}

/** Loads the language that the user chose in this browser, or the browser's. Call it before the first page is shown. */
export async function loadStoredLanguage(): Promise<void> {
  await showLanguage(chooseLanguage(localStorage.getItem(STORED_AS), navigator.languages));
}

/** Stores the choice in this browser. */
export async function chooseAndStoreLanguage(language: Language): Promise<void> {
  localStorage.setItem(STORED_AS, language);
  await showLanguage(language);
}

/** Keeps the current language if the catalogue cannot be loaded: the coordinator may restart at this moment. */
async function showLanguage(language: Language): Promise<void> {
  if (language !== 'en' && !texts.hasResourceBundle(language, NAMESPACE)) {
    try {
      texts.addResourceBundle(language, NAMESPACE, await LOAD[language]());
    } catch {
      return;
    }
  }
  setFormatTag(formatTag(language, navigator.languages));
  await texts.changeLanguage(language);
  // Screen readers choose the voice by it, and browsers the shapes of Chinese characters.
  document.documentElement.lang = language;
}

function onLanguageChange(listener: () => void): () => void {
  texts.on('languageChanged', listener);
  return () => texts.off('languageChanged', listener);
}
