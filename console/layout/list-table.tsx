/** A list as a table within a card, which a phone scrolls sideways. */
import type { ReactNode } from 'react';
import controls from './controls.module.css';
import table from './table.module.css';

interface ListTableProps {
  /** What it lists. */
  label: string;
  /** Heads of the columns. */
  columns: readonly string[];
  /** Rows. */
  children: ReactNode;
}

export function ListTable({ label, columns, children }: ListTableProps) {
  return (
    <section className={`${controls.card} ${table.frame}`} aria-label={label}>
      <table className={table.table}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
