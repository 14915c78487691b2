/** Whether notices of new problems are shown, stored in the browser. */
import { useSyncExternalStore } from 'react';

const STORED_AS = 'everynode-notices';
const listeners = new Set<() => void>();

function areNoticesOn(): boolean {
  return localStorage.getItem(STORED_AS) !== 'off';
}

export function setNotices(isOn: boolean): void {
  localStorage.setItem(STORED_AS, isOn ? 'on' : 'off');
  for (const listener of listeners) listener();
}

export function useNoticesOn(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, areNoticesOn);
}
