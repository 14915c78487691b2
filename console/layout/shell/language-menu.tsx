/** Menu of the languages. */
import { useId } from 'react';
import { chooseAndStoreLanguage, useLanguage } from '../../texts/language-choice.js';
import { LANGUAGE_TAGS, LANGUAGES } from '../../texts/languages.js';
import { t } from '../../texts/translate.js';
import controls from '../controls.module.css';

/** Each language is named in itself, so that a user finds it in a console of any language. */
export function LanguageChoice() {
  const language = useLanguage();
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{t('Language')}</label>
      <select
        id={id}
        className={controls.input}
        value={language}
        onChange={({ target }) => {
          const chosen = LANGUAGE_TAGS.find((tag) => tag === target.value);
          if (chosen) void chooseAndStoreLanguage(chosen);
        }}
      >
        {LANGUAGE_TAGS.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {LANGUAGES[tag]}
          </option>
        ))}
      </select>
    </>
  );
}
