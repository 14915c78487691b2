/** A card around a table that may be wider than the screen: it scrolls sideways. */
import type { ReactNode } from 'react';
import controls from './controls.module.css';
import { ScrollFrame } from './scroll-frame.js';
import table from './table.module.css';

interface TableCardProps {
  /** What it holds, for those who hear it. */
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
