/** A card around a table that may be wider than the screen: it scrolls sideways, by keyboard too (WCAG 2.1.1). */
import type { ReactNode } from 'react';
import controls from './controls.module.css';
import table from './table.module.css';

interface TableCardProps {
  /** What it holds, for those who hear it. */
  label: string;
  children: ReactNode;
}

export function TableCard({ label, children }: TableCardProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section className={`${controls.card} ${table.frame}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
