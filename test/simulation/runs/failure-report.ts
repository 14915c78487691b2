/** A failing history as a person reads it: what was done, what happened, what is wrong. */
import type { History } from '../histories/history.js';
import type { HistoryOutcome } from './run-history.js';

/** The last so many lines say most. */
const LINES = 160;

export function formatFailure(history: History, outcome: HistoryOutcome): string {
  const { lines, violation } = outcome;
  const left = lines.length - LINES;
  return [
    `seed ${history.seed}, ${history.nodes} hosts, pace ${history.speed}, ${history.steps.length} steps:`,
    ...history.steps.map((step) => `  ${JSON.stringify(step)}`),
    '',
    'What happened (seconds, who, what):',
    ...(left > 0 ? [`  … ${left} lines before`] : []),
    ...lines.slice(-LINES).map((line) => `  ${line}`),
    '',
    `BROKEN: ${violation}`,
  ].join('\n');
}
