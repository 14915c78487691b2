/** Writes Prometheus' text format (version 0.0.4). */

export type Labels = Readonly<Record<string, string>>;

/** An undefined value is left out. `timeMs`: when it was measured, ms since the epoch. */
export interface Sample {
  labels: Labels;
  value: number | undefined;
  timeMs?: number;
}

/** A metric with its samples. */
export interface MetricFamily {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  samples: readonly Sample[];
}

export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8' as const;

/** A family without values is left out. */
export function prometheusText(families: readonly MetricFamily[]): string {
  return families.map(familyText).join('');
}

function familyText({ name, type, help, samples }: MetricFamily): string {
  const lines = samples.flatMap(({ labels, value, timeMs }) =>
    value === undefined
      ? []
      : [`${name}${labelText(labels)} ${value}${timeMs === undefined ? '' : ` ${timeMs}`}\n`],
  );
  return lines.length > 0 ? `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}` : '';
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
