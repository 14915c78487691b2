/** Comparison of two texts: changed lines with context. Changes are marked by sign and colour. */
import { structuredPatch } from 'diff';
import { t } from '../../texts/translate.js';
import { ScrollFrame } from '../scroll-frame.js';
import classes from './text-diff.module.css';

interface TextDifferenceProps {
  label: string;
  before: string;
  after: string;
}

const CONTEXT = 3;

const SIGNS: Readonly<Record<string, { part: string; word: string }>> = {
  '+': { part: 'added', word: 'added' },
  '-': { part: 'removed', word: 'removed' },
};

export function TextDiff({ label, before, after }: TextDifferenceProps) {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  if (hunks.length === 0) return <p>{t('No differences.')}</p>;
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
                  {sign && <span className={classes.visuallyHidden}>{sign.word}: </span>}
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
