/** Setting for single-key shortcuts, which speech input can trigger by accident (WCAG 2.1.4). */

const STORED_AS = 'everynode-single-keys';

/** Returns true unless the user turned them off in this browser. */
export function areSingleKeysEnabled(): boolean {
  return localStorage.getItem(STORED_AS) !== 'off';
}

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(STORED_AS, isOn ? 'on' : 'off');
}
