/** Shortcuts of single keys can be turned off (WCAG 2.1.4): who speaks to the computer may say them by accident. */

const STORED_AS = 'everynode-single-keys';

/** True unless this browser was told otherwise. */
export function areSingleKeysEnabled(): boolean {
  return localStorage.getItem(STORED_AS) !== 'off';
}

/** Remembered in this browser. */
export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(STORED_AS, isOn ? 'on' : 'off');
}
