/** Two texts beside each other: the lines that differ, with a few around them. What differs is told by sign as well as by colour. */
import { structuredPatch } from 'diff';
import { ScrollFrame } from '../scroll-frame.js';
import { diffRows } from './diff-rows.js';
import classes from './side-by-side-diff.module.css';

interface Side {
  /** What it is called. */
  name: string;
  text: string;
}

interface SideBySideProps {
  /** What is compared, for those who hear it. */
  label: string;
  before: Side;
  after: Side;
}

/** Lines around each change that are shown as well. */
const CONTEXT = 4;

/** Says so where nothing differs. */
export function SideBySideDiff({ label, before, after }: SideBySideProps) {
  const { hunks } = structuredPatch('', '', before.text, after.text, '', '', { context: CONTEXT });
  if (hunks.length === 0) return <p>Nothing differs.</p>;
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
            <tr key={row.number}>
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
  /** Absent: it is the same on both sides. */
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
