/** Theme colours for a canvas, which supports neither CSS variables nor `light-dark()`. */
import { useEffect, useState } from 'react';

/**
 * Returns the colours of CSS variables, by the same keys. Updated only when the theme changes: reading computed styles
 * forces a layout. `variables` must be a constant.
 */
export function useThemeColours<K extends string>(
  variables: Readonly<Record<K, string>>,
): Readonly<Record<K, string>> {
  const [colours, setColours] = useState(() => readColours(variables));
  useEffect(() => {
    const read = () => setColours(readColours(variables));
    const system = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(read);
    system.addEventListener('change', read);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', read);
      observer.disconnect();
    };
  }, [variables]);
  return colours;
}

function readColours<K extends string>(variables: Readonly<Record<K, string>>): Readonly<Record<K, string>> {
  const probe = document.createElement('span');
  document.body.append(probe);
  const entries = Object.entries<string>(variables).map(([name, variable]) => {
    probe.style.color = `var(${variable})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(entries) as Record<K, string>;
}
