/** Table in a card. Scrolls horizontally on phones. */
import type { ReactNode } from 'react';
import table from './table.module.css';
import { TableCard } from './table-card.js';

interface ListTableProps {
  /** Name for screen readers. */
  label: string;
  /** Headers of the columns. */
  columns: readonly string[];
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
