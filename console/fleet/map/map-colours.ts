/** The theme's colours as a canvas takes them: it knows no variables and no `light-dark()`. */
import { useEffect, useState } from 'react';
import type { HostHealth } from '../host-health.js';

/** The theme's variable of each. */
const VARIABLES = {
  failing: '--ill',
  notReady: '--ill',
  dark: '--dark',
  pressure: '--busy',
  cordoned: '--off',
  well: '--well',
  text: '--text',
  page: '--page',
} as const satisfies Record<HostHealth | 'text' | 'page', string>;

export type MapColours = Readonly<Record<keyof typeof VARIABLES, string>>;

/** Read anew when the theme changes, and not with each drawing: asking makes the browser lay the page out. */
export function useMapColours(): MapColours {
  const [colours, setColours] = useState(readColours);
  useEffect(() => {
    const read = () => setColours(readColours());
    const system = matchMedia('(prefers-color-scheme: dark)');
    const chosen = new MutationObserver(read);
    system.addEventListener('change', read);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', read);
      chosen.disconnect();
    };
  }, []);
  return colours;
}

function readColours(): MapColours {
  const probe = document.createElement('span');
  document.body.append(probe);
  const entries = Object.entries(VARIABLES).map(([name, variable]) => {
    probe.style.color = `var(${variable})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as MapColours;
}
