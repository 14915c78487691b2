/** The charts of a run, each with the values and manifests that it needs. */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** Values and manifests that charts require. The first line of each file is a comment with the reason. */
const FIXTURES = resolve(dirname(fileURLToPath(import.meta.url)), '../../../../test/fixtures/charts');
const VALUES_SUFFIX = '.values.yaml';

/** A chart with one choice of values. */
export interface ChartCase {
  /** Name of the chart's folder. */
  chart: string;
  /** `CHART`, or `CHART.VARIANT` for other values than the chart's least. */
  name: string;
  version: string;
  /** `OWNER/REPOSITORY/tree/HEAD/FOLDER` on GitHub, if it is known. */
  source?: string;
  path: string;
  /** Path of the values file, if the case has one. */
  values?: string;
  /** Path of a manifest with what the chart expects in the cluster. */
  prepared?: string;
}

/**
 * Returns the cases of all charts in the folder. `NAME.values.yaml` beside the fixtures has the values that a chart
 * requires, `NAME.VARIANT.values.yaml` makes another case, and `NAME.before.yaml` is applied before. Large manifests of
 * other projects may be in the folder of the charts instead.
 */
export function chartCases(folder: string): ChartCase[] {
  const files = readdirSync(FIXTURES);
  const sources = parse(readFileSync(join(FIXTURES, 'sources.yaml'), 'utf8')) as Record<string, string>;
  const charts = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'Chart.yaml')));
  return charts.sort().flatMap((chart) => {
    const path = join(folder, chart);
    const { version } = parse(readFileSync(join(path, 'Chart.yaml'), 'utf8')) as { version: string };
    const variants = files
      .filter((file) => file.startsWith(`${chart}.`) && file.endsWith(VALUES_SUFFIX))
      .map((file) => file.slice(0, -VALUES_SUFFIX.length));
    const prepared = [FIXTURES, folder]
      .map((each) => join(each, `${chart}.before.yaml`))
      .find((file) => existsSync(file));
    return [...new Set([chart, ...variants.sort()])].map((name) => ({
      ...{ chart, name, version, path },
      ...(sources[chart] ? { source: sources[chart] } : {}),
      ...(variants.includes(name) ? { values: join(FIXTURES, `${name}${VALUES_SUFFIX}`) } : {}),
      ...(prepared ? { prepared } : {}),
    }));
  });
}

/**
 * Copies the chart with the next patch version. Most charts write their version into labels, so an upgrade to the copy
 * changes objects and often Pods, while an upgrade to the same version would change nothing.
 */
export function copyAsNextVersion({ path, version }: ChartCase, to: string): void {
  cpSync(path, to, { recursive: true });
  const file = join(to, 'Chart.yaml');
  const text = readFileSync(file, 'utf8');
  const next = version.replace(
    /^(v?\d+\.\d+\.)(\d+)/,
    (_all, minor, patch) => `${minor}${Number(patch) + 1}`,
  );
  if (next === version) throw new Error(`${file}: the version ${version} is not semantic`);
  writeFileSync(file, text.replace(/^version:.*$/m, `version: ${next}`));
}

/** Returns the comment of a file's first line. */
export function reasonIn(path: string): string {
  const [line = ''] = readFileSync(path, 'utf8').split('\n');
  if (!line.startsWith('# ')) throw new Error(`${path}: the first line must be a comment with the reason`);
  return line.slice(2);
}
