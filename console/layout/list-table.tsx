/** A list as a table within a card, which a phone scrolls sideways. */
import type { ReactNode } from 'react';
import table from './table.module.css';
import { TableCard } from './table-card.js';

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
    <TableCard label={label}>
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
    </TableCard>
  );
}
