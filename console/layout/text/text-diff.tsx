/** Two texts as the lines that differ, with a few around them; added and removed are told by sign as well as by colour. */
import { structuredPatch } from 'diff';
import { ScrollFrame } from '../scroll-frame.js';
import classes from './text-diff.module.css';

interface TextDifferenceProps {
  /** What is compared, for those who hear it. */
  label: string;
  before: string;
  after: string;
}

/** Lines around each change that are shown as well. */
const CONTEXT = 3;

const SIGNS: Readonly<Record<string, { part: string; word: string }>> = {
  '+': { part: 'added', word: 'added' },
  '-': { part: 'removed', word: 'removed' },
};

/** Says so where nothing differs. */
export function TextDiff({ label, before, after }: TextDifferenceProps) {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  if (hunks.length === 0) return <p>Nothing differs.</p>;
  return (
    <ScrollFrame className={classes.frame} label={label}>
      {hunks.map(({ oldStart, newStart, lines }) => (
        <div key={`${oldStart}:${newStart}`} className={classes.hunk}>
          {numbered(lines.filter((line) => !line.startsWith('\\'))).map(({ number, line }) => {
            const sign = SIGNS[line.charAt(0)];
            return (
              <div key={number} className={classes.line} data-part={sign?.part}>
                <span className={classes.sign}>
                  {sign ? line.charAt(0) : ' '}
                  {sign && <span className={classes.heard}>{sign.word}: </span>}
                </span>
                {line.slice(1)}
              </div>
            );
          })}
        </div>
      ))}
    </ScrollFrame>
  );
}

function numbered(lines: readonly string[]): { number: number; line: string }[] {
  return lines.map((line, number) => ({ number, line }));
}
