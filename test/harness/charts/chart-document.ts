/** Writes docs/charts.md from the results. */

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type ChartCase, reasonIn } from './chart-folder.js';
import { type ChartOutcome, outcomeText } from './chart-outcome.js';
import type { ChartResult } from './chart-results.js';

/** Best outcome of a chart: over its cases, each with every Helm. */
type Verdict = 'passed' | 'passed with other values' | ChartOutcome['kind'] | 'not run with every Helm';

function cellOf(results: readonly ChartResult[], name: string, helm: string): string {
  const result = results.find((each) => each.name === name && each.helm === helm);
  return result ? outcomeText(result.outcome).replaceAll('|', '\\|') : 'not run';
}

/** A chart passes if one of its cases passes every step with every Helm. */
export function verdictOf(
  cases: readonly ChartCase[],
  results: readonly ChartResult[],
  helms: readonly string[],
): Verdict {
  const outcomes = (name: string) =>
    helms.map((helm) => results.find((each) => each.name === name && each.helm === helm)?.outcome.kind);
  const [first, ...others] = cases.map(({ name }) => outcomes(name));
  const passes = (kinds: (string | undefined)[]): boolean => kinds.every((kind) => kind === 'passed');
  if (!first || first.includes(undefined)) return 'not run with every Helm';
  if (passes(first)) return 'passed';
  if (others.some(passes)) return 'passed with other values';
  return first.find((kind) => kind !== 'passed') ?? 'failed';
}

function countsText(verdicts: readonly Verdict[]): string {
  const count = (verdict: Verdict): number => verdicts.filter((each) => each === verdict).length;
  const passed = count('passed') + count('passed with other values');
  const others: [Verdict, string][] = [
    ['refused', 'refused whole with one sentence'],
    ['waits', 'waiting for what Everynode does not provide'],
    ['refused by Kubernetes, too', 'refused by Kubernetes, too'],
    ['failed', 'failed'],
    ['not run with every Helm', 'not run with every Helm'],
  ];
  const rest = others
    .filter(([verdict]) => count(verdict) > 0)
    .map(([verdict, text]) => `${text}: ${count(verdict)}`);
  const values = count('passed with other values');
  const some = values > 0 ? `, ${values} of them only with other values than their defaults` : '';
  const whole = `${passed} of ${verdicts.length} charts pass every step with every Helm${some}`;
  return [whole, ...rest].join('; ');
}

/** Returns a section with the reason and the text of each file that a chart needs. */
function neededText(cases: readonly ChartCase[]): string {
  return cases
    .flatMap(({ values, prepared }) => [prepared, values])
    .filter((path, at, all): path is string => path !== undefined && all.indexOf(path) === at)
    .map((path) => {
      const text = readFileSync(path, 'utf8');
      const body = text.slice(text.indexOf('\n') + 1).trimEnd();
      const isShort = body.split('\n').length <= MAX_SHOWN_LINES;
      const shown = isShort ? `\n\n\`\`\`yaml\n${body}\n\`\`\`` : '';
      return `\`${basename(path)}\`: ${reasonIn(path)}${shown}\n`;
    })
    .join('\n');
}

const MAX_SHOWN_LINES = 40;

/** Returns the document. Charts without results are rows as well. */
export function chartDocument(
  cases: readonly ChartCase[],
  results: readonly ChartResult[],
  { helms, hosts }: { helms: readonly string[]; hosts: number },
): string {
  const charts = [...new Set(cases.map(({ chart }) => chart))];
  const verdicts = charts.map((chart) =>
    verdictOf(
      cases.filter((each) => each.chart === chart),
      results,
      helms,
    ),
  );
  const rows = cases.map(({ name, version, source }) => {
    const link = source ? `[${name}](https://github.com/${source})` : name;
    return `| ${[link, version, ...helms.map((helm) => cellOf(results, name, helm))].join(' | ')} |`;
  });
  return `# Public charts

<!-- written by npm run charts -->

Helm charts of other projects, unmodified, on ${hosts} hollow hosts: installed with \`--wait\`, upgraded to a copy with
the next version, rolled back and uninstalled. A hollow host starts no program, so this shows that the objects are accepted and that their Pods become
ready, not that the programs work. ${countsText(verdicts)}.

A row \`CHART.VARIANT\` is the same chart with other values. The [values](#values-and-prepared-manifests) are below. Charts
are from the main branches of their repositories, where some have a placeholder as their version.

| chart | version | ${helms.join(' | ')} |
|---|---|${helms.map(() => '---|').join('')}
${rows.join('\n')}

## Values and prepared manifests

Some charts have no complete defaults, or need what another chart brings. \`NAME.before.yaml\` was applied before the
installation.

${neededText(cases)}`;
}
