/** Assertions of upstream's e2e tests, by kubectl against a coordinator and hollow hosts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { ConformanceFleet } from '../../conformance/scenarios/conformance-fleet.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { API_CASES } from './api-cases.js';
import { APPS_CASES } from './apps-cases.js';
import { CLI_CASES } from './cli-cases.js';
import { DELETION_CASES } from './deletion-cases.js';
import { NETWORK_CASES } from './network-cases.js';
import { OBJECT_CASES } from './object-cases.js';
import type { Step } from './upstream-case.js';

const DIFFERENCES = resolve(import.meta.dirname, '../../../../docs/differences-from-kubernetes.md');
const CASES = [
  ...APPS_CASES,
  ...API_CASES,
  ...DELETION_CASES,
  ...CLI_CASES,
  ...OBJECT_CASES,
  ...NETWORK_CASES,
];

let fleet: ConformanceFleet;
let served: ReadonlySet<string>;

before(async () => {
  fleet = await ConformanceFleet.start({ nodes: [{ name: 'n1' }, { name: 'n2' }], unreadyImages: [] });
  served = new Set((await fleet.kubectl.ok('api-resources --verbs=create -o name')).split('\n'));
});
after(() => fleet.stop());

/** Runs one step and throws unless it ends as expected. Returns the first group of its pattern. */
async function runStep([text, expected, input]: Step, namespace: string, last: string): Promise<string> {
  const mark = /^[!~]/.exec(text)?.[0];
  const command = text
    .slice(mark?.length ?? 0)
    .replaceAll('NS', namespace)
    .replace('LAST', last);
  const body = input === undefined || typeof input === 'string' ? input : JSON.stringify(input);
  const words = ['-n', namespace, ...command.split(' ')];
  let found = '';
  const attempt = async () => {
    const { code, stdout, stderr } = await fleet.kubectl.run(words, body?.replaceAll('NS', namespace));
    const match = expected.exec(`${stdout}${stderr}`.trim());
    found = match?.[1] ?? '';
    return (match !== null && (code === 0) === (mark !== '!')) || `exit ${code}: ${stdout}${stderr}`;
  };
  if (mark === '~') await until(attempt, { what: command, timeoutMs: 60_000, pollMs: 500 });
  else assert.equal(await attempt(), true, command);
  return found;
}

test('no assertion is listed twice', () => {
  assert.equal(new Set(CASES.map(({ title }) => title)).size, CASES.length);
});

for (const { title, deviation } of CASES.filter((listed) => listed.deviation !== undefined))
  test(`${title}: the deviation is documented`, () => {
    assert.ok(readFileSync(DIFFERENCES, 'utf8').includes(deviation ?? ''), deviation);
  });

for (const [index, { title, file, needs = [], steps }] of CASES.entries()) {
  test(`${title} (test/e2e/${file})`, async (context) => {
    const missing = needs.filter((resource) => !served.has(resource));
    if (missing.length > 0) return leaveOut(context, title, `${missing.join(', ')} is not served`);
    const namespace = `e2e-${index}`;
    await fleet.kubectl.ok(`create namespace ${namespace}`);
    let last = '';
    for (const step of steps) last = await runStep(step, namespace, last);
    await fleet.kubectl.ok(`delete namespace ${namespace} --wait=false --ignore-not-found`);
  });
}
