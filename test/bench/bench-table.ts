/** Results as text: one line each during the run, and the table of docs/benchmarks.md. */
import { type Goal, judge, type Result } from './bench-result.js';

/** Marks the table in docs/benchmarks.md that `npm run bench -- --write` writes. */
export const TABLE_BEGIN = '<!-- bench: written by npm run bench -- --write -->';
export const TABLE_END = '<!-- end of bench -->';

/** Three significant digits, which is the accuracy of these measurements. */
export function digits(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (value < 0) return `-${digits(-value)}`;
  if (value >= 100) return String(Math.round(value));
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function goalText(goal: Goal | undefined, unit: string): string {
  switch (goal?.kind) {
    case undefined:
      return '–';
    case 'ratio':
      return `≤ ${goal.most}×`;
    case 'difference':
      return `≤ floor + ${goal.most} ${unit}`;
    case 'product':
      return `≤ ${goal.most} ${unit}`;
  }
}

function metText(met: boolean | undefined): string {
  if (met === undefined) return '';
  return met ? 'met' : 'NOT met';
}

/** `name  floor 1.2 ms  product 1.4 ms  1.17×  goal ≤ 1.5×  met`: medians, with the number of pairs. */
export function line(result: Result): string {
  const { floor, product, swarm, ratio, difference, met } = judge(result);
  const { number, name, unit, goal } = result;
  const parts = [
    `${(number ?? '').padStart(3)} ${name}:`,
    floor === undefined ? '' : `floor ${digits(floor)},`,
    `product ${digits(product)} ${unit}`,
    swarm === undefined ? '' : `(Swarm ${digits(swarm)})`,
    ratio === undefined ? '' : `= ${digits(ratio)}×`,
    goal?.kind === 'difference' ? `(${(difference ?? 0) < 0 ? '' : '+'}${digits(difference)} ${unit})` : '',
    goal ? `· goal ${goalText(goal, unit)} · ${metText(met)}` : '',
    `[n=${result.product.length}]`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** A Markdown table of all results. */
export function markdown(results: readonly Result[]): string {
  const rows = results.map((result) => {
    const { floor, product, swarm, ratio, met } = judge(result);
    const { number = '', section, name, unit, goal } = result;
    const cells = [
      ...[number, section, `${name}, ${unit}`, digits(floor), digits(product), digits(swarm)],
      ...[ratio === undefined ? '–' : `${digits(ratio)}×`, goalText(goal, unit), metText(met)],
      String(result.product.length),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = '| goal | section | measure | floor | Everynode | Swarm | ratio | allowed | | n |';
  return [head, '|---|---|---|---|---|---|---|---|---|---|', ...rows].join('\n');
}
