/** Side-by-side comparison of two texts: changed lines with context. Changes are marked by sign and colour. */
import { structuredPatch } from 'diff';
import { t } from '../../texts/translate.js';
import { ScrollFrame } from '../scroll-frame.js';
import { diffRows } from './diff-rows.js';
import classes from './side-by-side-diff.module.css';

interface Side {
  name: string;
  text: string;
}

interface SideBySideProps {
  label: string;
  before: Side;
  after: Side;
}

const CONTEXT = 4;

export function SideBySideDiff({ label, before, after }: SideBySideProps) {
  const { hunks } = structuredPatch('', '', before.text, after.text, '', '', { context: CONTEXT });
  if (hunks.length === 0) return <p>{t('No differences.')}</p>;
  const rows = hunks.flatMap(({ lines }) => diffRows(lines)).map((row, number) => ({ ...row, number }));
  return (
    <ScrollFrame className={classes.frame} label={label}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{before.name}</th>
            <th scope="col">{after.name}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.number} data-same={row.isSame || undefined}>
              <Line text={row.before} sign="−" part={row.isSame ? undefined : 'removed'} />
              <Line text={row.after} sign="+" part={row.isSame ? undefined : 'added'} />
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollFrame>
  );
}

interface LineProps {
  text: string | undefined;
  sign: string;
  /** Absent for an unchanged line. */
  part: 'added' | 'removed' | undefined;
}

function Line({ text, sign, part }: LineProps) {
  const isChanged = part !== undefined && text !== undefined;
  return (
    <td className={classes.line} data-part={isChanged ? part : undefined}>
      {isChanged ? `${sign} ` : '  '}
      {text}
    </td>
  );
}
