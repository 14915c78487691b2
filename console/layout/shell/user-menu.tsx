/** User menu: name, theme and sign-out. */
import { useEffect, useState } from 'react';
import { requestApi } from '../../api/api-call.js';
import { isSignedInByCertificate, userName } from '../../api/signed-in-user.js';
import controls from '../controls.module.css';
import { setNotices, useNoticesOn } from './notice-setting.js';
import { THEMES } from './theme-names.js';
import { applyTheme, storedTheme } from './theme-storage.js';
import classes from './user-menu.module.css';

export function UserMenu() {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => applyTheme(theme), [theme]);
  const hasNotices = useNoticesOn();
  return (
    <div className={classes.person}>
      <p className={classes.name} title="Signed in as">
        {userName()}
      </p>
      <select
        className={controls.input}
        aria-label="Theme"
        value={theme}
        onChange={(event) => setTheme(THEMES.find((each) => each === event.target.value) ?? THEMES[0])}
      >
        {THEMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <label className={classes.name}>
        <input type="checkbox" checked={hasNotices} onChange={(event) => setNotices(event.target.checked)} />{' '}
        Notices of new problems
      </label>
      {isSignedInByCertificate() ? (
        <p className={classes.certified}>Signed in by client certificate. Close the browser to sign out.</p>
      ) : (
        <button type="button" className={controls.button} onClick={() => void signOut()}>
          Sign out
        </button>
      )}
    </div>
  );
}

/** Ends the session. Not offered with a client certificate, because the browser would sign in again at once. */
export async function signOut(): Promise<void> {
  await requestApi('/console/session', { method: 'DELETE' });
  location.assign('/console/');
}
