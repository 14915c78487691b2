/**
 * The alerts and the dashboard in examples/ use only names on the metrics pages. An alert on a missing name would never
 * fire.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { metricsPage } from '../../harness/api/scraped-metrics.js';
import { applyEverywhere } from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const FOLDER = 'examples/prometheus';
/** Metrics that Prometheus itself adds for each job. */
const OF_PROMETHEUS = ['up'];
/** Keywords of PromQL, and the bucket label of histograms. Functions are recognised by their bracket. */
const WORDS = ['by', 'le', 'and', 'or', 'unless', 'on', 'ignoring', 'without'];

interface Expression {
  where: string;
  text: string;
}

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}

function alerts(): Expression[] {
  const { groups } = parse(readFileSync(`${FOLDER}/alerts.yaml`, 'utf8')) as Rules;
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: alert, text: expr })));
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}

function dashboard(): Expression[] {
  const { panels } = JSON.parse(readFileSync(`${FOLDER}/dashboard.json`, 'utf8')) as Dashboard;
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, text: expr })),
  );
}

/** Returns the metric names in an expression. Labels are in braces, and in brackets after `by`. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\bby\s*\([^)]*\)/g, '');
  const names = bare.match(/(?<![\w.])[a-z_][a-z0-9_]*(?!\w|\s*\()/gi) ?? [];
  return [...new Set(names)].filter((name) => !WORDS.includes(name) && !OF_PROMETHEUS.includes(name));
}

/** Returns the labels that an expression compares or groups by. */
function labelsIn(expression: string): string[] {
  const compared = [...expression.matchAll(/[{,]\s*([a-z_]+)\s*[=!]/g)].map(([, name]) => name ?? '');
  const summed = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/,\s*/),
  );
  return [...new Set([...compared, ...summed])].filter((name) => !['le', 'job'].includes(name));
}

/** Returns the series of a metric on a page, including those of a histogram. */
function seriesOf(metric: string, page: string): string[] {
  return page.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
}

function isServed(metric: string, page: string): boolean {
  const family = metric.replace(/_(bucket|count|sum)$/, '');
  return page.split('\n').some((line) => [metric, family].some((name) => line.startsWith(`# TYPE ${name} `)));
}

describe('metrics and labels of examples/prometheus', () => {
  let fleet: SimulatedFleet;
  let page = '';
  before(async () => {
    fleet = await startSimulatedFleet(2);
    await applyEverywhere(fleet, 'till');
    for (const path of ['/metrics', '/metrics/agents']) page += (await metricsPage(fleet.api, path)).text;
  });
  after(() => fleet.stop());

  test('every metric name is served', () => {
    const asked = [...alerts(), ...dashboard()];
    assert.ok(asked.length > 25, `${asked.length} expressions`);
    const missing = asked.flatMap(({ where, text }) =>
      metricsIn(text)
        .filter((metric) => !isServed(metric, page))
        .map((metric) => `${where}: ${metric}`),
    );
    assert.deepEqual(missing, []);
    assert.ok(asked.every(({ text }) => metricsIn(text).length > 0 || text.startsWith('up')));
  });

  test('every label that distinguishes series exists', () => {
    const missing = [...alerts(), ...dashboard()].flatMap(({ where, text }) => {
      const series = metricsIn(text).flatMap((metric) => seriesOf(metric, page));
      const labels = series.length > 0 ? labelsIn(text) : [];
      return labels
        .filter((label) => !series.some((line) => new RegExp(`[{,]${label}=`).test(line)))
        .map((label) => `${where}: ${label}`);
    });
    assert.deepEqual(missing, []);
  });
});
