/** Revisions of an object, newest first: each with its difference to the one before, and a button that restores it. */
import { Fragment, type ReactNode, useState } from 'react';
import { t, translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import table from '../table.module.css';
import { TextDiff } from '../text/text-diff.js';
import { RelativeTime } from '../time/relative-time.js';
import classes from './revision-table.module.css';

interface ShownRevision {
  number: number;
  /** One for each column. */
  cells: readonly ReactNode[];
  /** Absent if the time is not known. */
  at?: string | undefined;
  /** The content, to compare it with another revision. */
  text: () => string;
}

interface RevisionTableProps {
  /** Names of the columns between the number and the time. */
  columns: readonly string[];
  /** Newest first. The first is the current one. */
  revisions: readonly ShownRevision[];
  /** Absent if the user may not restore. */
  restore?: { act: (number: number) => string; onSelect: (number: number) => void } | undefined;
}

export function RevisionTable({ columns, revisions, restore }: RevisionTableProps) {
  const [open, setOpen] = useState<number>();
  return (
    <table className={`${table.table} ${table.wraps} ${table.details}`}>
      <thead>
        <tr>
          {['Revision', ...columns, 'Created'].map((name) => (
            <th key={name} scope="col">
              {translated(name)}
            </th>
          ))}
          <th scope="col" aria-label="Action" />
        </tr>
      </thead>
      <tbody>
        {revisions.map((revision, index) => {
          const { number, cells, at } = revision;
          const before = revisions[index + 1];
          return (
            <Fragment key={number}>
              <tr>
                <th scope="row">{number}</th>
                {columns.map((name, column) => (
                  <td key={name}>{cells[column]}</td>
                ))}
                <td>{at && <RelativeTime at={at} />}</td>
                <td>
                  <div className={classes.buttons}>
                    {before && (
                      <button
                        type="button"
                        className={controls.button}
                        aria-expanded={open === number}
                        aria-label={t('Changes of revision {{number}}', { number })}
                        onClick={() => setOpen(open === number ? undefined : number)}
                      >
                        {t('Changes')}
                      </button>
                    )}
                    {index === 0 && <span>{t('current')}</span>}
                    {index > 0 && restore && (
                      <button
                        type="button"
                        className={controls.button}
                        onClick={() => restore.onSelect(number)}
                      >
                        {restore.act(number)}
                      </button>
                    )}
                  </div>
                </td>
              </tr>
              {open === number && before && (
                <tr>
                  <td colSpan={columns.length + 3} data-long>
                    <TextDiff
                      label={`Changes from revision ${before.number} to ${number}`}
                      before={before.text()}
                      after={revision.text()}
                    />
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}
