/** Tables in cards. They scroll horizontally if they are wider than the screen. */
import type { ReactNode } from 'react';
import { translated } from '../texts/translate.js';
import controls from './controls.module.css';
import { ScrollFrame } from './scroll-frame.js';
import table from './table.module.css';

interface ListTableProps {
  label: string;
  columns: readonly string[];
  /** True if the cells of a row wrap on phones. For cells that are understood without their header. */
  wraps?: boolean;
  children: ReactNode;
}

export function ListTable({ label, columns, wraps = false, children }: ListTableProps) {
  return (
    <TableCard label={label}>
      <table className={wraps ? `${table.table} ${table.wraps}` : table.table}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {translated(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </TableCard>
  );
}

interface TableCardProps {
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
