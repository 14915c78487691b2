/** User menu: name, settings of this browser and sign-out. */
import { useEffect, useId, useState } from 'react';
import { requestApi } from '../../api/api-call.js';
import { isSignedInByCertificate, userName } from '../../api/signed-in-user.js';
import { t, translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import { LanguageChoice } from './language-menu.js';
import { setNotices, useNoticesOn } from './notice-setting.js';
import { applyDensity, DENSITIES, storedDensity } from './row-density.js';
import { THEMES } from './theme-names.js';
import { applyTheme, storedTheme } from './theme-storage.js';
import classes from './user-menu.module.css';

export function UserMenu() {
  const [theme, setTheme] = useState(storedTheme);
  const [density, setDensity] = useState(storedDensity);
  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => applyDensity(density), [density]);
  const hasNotices = useNoticesOn();
  return (
    <div className={classes.person}>
      <p className={classes.name}>
        {t('Signed in as')} <strong>{userName()}</strong>
      </p>
      <details className={classes.settings}>
        <summary>{t('Settings')}</summary>
        <Choice label="Theme" choices={THEMES} value={theme} onChoose={setTheme} />
        <Choice label="Rows" choices={DENSITIES} value={density} onChoose={setDensity} />
        <LanguageChoice />
        <label className={classes.name}>
          <input
            type="checkbox"
            checked={hasNotices}
            onChange={(event) => setNotices(event.target.checked)}
          />{' '}
          {t('Notices of new problems')}
        </label>
      </details>
      {isSignedInByCertificate() ? (
        <p className={classes.certified}>
          {t('Signed in by client certificate. Close the browser to sign out.')}
        </p>
      ) : (
        <button type="button" className={controls.button} onClick={() => void signOut()}>
          {t('Sign out')}
        </button>
      )}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  choices: readonly T[];
  value: T;
  onChoose: (choice: T) => void;
}

function Choice<T extends string>({ label, choices, value, onChoose }: ChoiceProps<T>) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{translated(label)}</label>
      <select
        id={id}
        className={controls.input}
        value={value}
        onChange={({ target }) => onChoose(choices.find((each) => each === target.value) ?? value)}
      >
        {choices.map((name) => (
          <option key={name} value={name}>
            {translated(name)}
          </option>
        ))}
      </select>
    </>
  );
}

/** Ends the session. Not offered with a client certificate, because the browser would sign in again at once. */
export async function signOut(): Promise<void> {
  await requestApi('/console/session', { method: 'DELETE' });
  location.assign('/console/');
}
