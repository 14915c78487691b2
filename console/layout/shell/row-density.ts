/** Height of rows, stored in the browser. The style sheet gives each density its tokens. */
import { useSyncExternalStore } from 'react';

export const DENSITIES = ['comfortable', 'compact'] as const;

type Density = (typeof DENSITIES)[number];

const STORED_AS = 'everynode-density';
const CHANGED = 'everynode-density-changed';

export function storedDensity(): Density {
  const stored = localStorage.getItem(STORED_AS);
  return DENSITIES.find((density) => density === stored) ?? DENSITIES[0];
}

export function applyDensity(density: Density): void {
  localStorage.setItem(STORED_AS, density);
  document.documentElement.dataset.density = density;
  dispatchEvent(new CustomEvent(CHANGED));
}

/** Returns the height of a row in pixels, for tables that draw only the visible rows. */
export function useRowHeight(): number {
  return useSyncExternalStore(onChange, rowHeight);
}

function rowHeight(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row'));
}

function onChange(listener: () => void): () => void {
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}
