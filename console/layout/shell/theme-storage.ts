/** The theme, stored in the browser. */
import { THEMES, type Theme } from './theme-names.js';

const STORED_AS = 'everynode-theme';

export function storedTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS);
  return THEMES.find((theme) => theme === stored) ?? THEMES[0];
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(STORED_AS, theme);
  document.documentElement.dataset.theme = theme;
}
