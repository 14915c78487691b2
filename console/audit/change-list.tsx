/** The changed fields of a write: short values in a line, long values as a comparison. */
import type { FieldChange, RecordedChanges } from '../../shared/kube/access/audit-types.js';
import { TextDiff } from '../layout/text/text-diff.js';
import classes from './audit-page.module.css';
import { isShort } from './change-summary.js';

export function ChangeList({ changes: { fields, omitted } }: { changes: RecordedChanges }) {
  return (
    <div className={classes.changes}>
      <ul aria-label="Changed fields">
        {fields.map((change) => (
          <li key={change.path}>
            <code>{change.path}</code> <Values change={change} />
          </li>
        ))}
      </ul>
      {omitted > 0 && <p>{omitted} more fields changed. The audit log has room for 4 KiB of each change.</p>}
    </div>
  );
}

function Values({ change }: { change: FieldChange }) {
  const { path, before, after } = change;
  if (!isShort(change)) return <TextDiff label={path} before={textOf(before)} after={textOf(after)} />;
  return (
    <>
      {before !== undefined && <del>{String(before)}</del>} {before === undefined ? 'added' : '→'}{' '}
      {after === undefined ? 'removed' : <ins>{String(after)}</ins>}
    </>
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
