/** What is about the person: the theme of this browser, and leaving. */
import { useEffect, useState } from 'react';
import { request } from '../api/call.js';
import controls from './controls.module.css';
import classes from './person.module.css';

const THEMES = ['as the system', 'light', 'dark'] as const;
const STORED_AS = 'everynode-theme';

export function Person() {
  const [theme, setTheme] = useState(() => localStorage.getItem(STORED_AS) ?? THEMES[0]);
  useEffect(() => {
    localStorage.setItem(STORED_AS, theme);
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const leave = async () => {
    await request('/console/session', { method: 'DELETE' });
    location.assign('/console/');
  };
  return (
    <div className={classes.person}>
      <select
        className={controls.input}
        aria-label="Theme"
        value={theme}
        onChange={(event) => setTheme(event.target.value)}
      >
        {THEMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button type="button" className={controls.button} onClick={() => void leave()}>
        Sign out
      </button>
    </div>
  );
}
