/** Theme colours for the canvas, which supports neither CSS variables nor `light-dark()`. */
import { useEffect, useState } from 'react';
import type { HostHealth } from '../../layout/status/host-health.js';

const VARIABLES = {
  failing: '--failed',
  notReady: '--failed',
  offline: '--offline',
  pressure: '--waiting',
  cordoned: '--maintenance',
  healthy: '--ok',
  text: '--text',
  page: '--page',
} as const satisfies Record<HostHealth | 'text' | 'page', string>;

export type MapColours = Readonly<Record<keyof typeof VARIABLES, string>>;

/** Updated only when the theme changes: reading computed styles forces a layout. */
export function useMapColours(): MapColours {
  const [colours, setColours] = useState(readColours);
  useEffect(() => {
    const read = () => setColours(readColours());
    const system = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(read);
    system.addEventListener('change', read);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', read);
      observer.disconnect();
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
