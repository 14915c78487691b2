/** One fact of a job: its name and its value. */
import type { ReactNode } from 'react';
import controls from '../layout/controls.module.css';

export function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt className={controls.dim}>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
