/** Card that scrolls horizontally if its table is wider than the screen. */
import type { ReactNode } from 'react';
import controls from './controls.module.css';
import { ScrollFrame } from './scroll-frame.js';
import table from './table.module.css';

interface TableCardProps {
  /** Name for screen readers. */
  label: string;
  children: ReactNode;
}

export function TableCard({ label, children }: TableCardProps) {
  return (
    <ScrollFrame className={`${controls.card} ${table.frame}`} label={label}>
      {children}
    </ScrollFrame>
  );
}
