/** Tables in cards. On phones each row is a small card, in which each cell has the name of its column. */
import type { CSSProperties, ReactNode } from 'react';
import { translated } from '../texts/translate.js';
import controls from './controls.module.css';
import { ScrollFrame } from './scroll-frame.js';
import table from './table.module.css';

interface ListTableProps {
  label: string;
  columns: readonly string[];
  /** True if cells have no names on phones. For cells that are understood without their header. */
  wraps?: boolean;
  children: ReactNode;
}

export function ListTable({ label, ...rest }: ListTableProps) {
  return (
    <TableCard label={label}>
      <LabelledTable {...rest} />
    </TableCard>
  );
}

/** A table with a header, without a card of its own. */
export function LabelledTable({ columns, wraps = false, children }: Omit<ListTableProps, 'label'>) {
  return (
    <table
      className={`${table.table} ${table.wraps} ${wraps ? '' : table.cards}`}
      {...(!wraps && { style: columnNames(columns) })}
    >
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
  );
}

/** Names of columns as variables of CSS: the header is not visible on phones. */
function columnNames(columns: readonly string[]): CSSProperties {
  const names = columns.map((name, at) => [`--column-${at + 1}`, JSON.stringify(translated(name))]);
  return Object.fromEntries(names.filter(([, name]) => name !== '""'));
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
