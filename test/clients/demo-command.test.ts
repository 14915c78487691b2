/** `everynode demo` as a user runs it: the commands of the tour show what the tour says, and it can be continued and removed. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { tourStops } from '../../coordinator/cli/demo/demo-tour.js';
import { demoFiles } from '../../coordinator/cli/demo/run-demo.js';
import { EXIT_CODES } from '../../shared/process/exit-error.js';
import { temporaryDirectory } from '../harness/basics/temporary-directory.js';
import { until } from '../harness/basics/wait-until.js';
import { type RunningProgram, runEverynode, startProgram } from '../harness/processes/everynode-processes.js';

const TIMEOUT_MS = 240_000;
const folder = temporaryDirectory();
const data = join(folder, 'data');
let demo: RunningProgram;

/** Resolves when the tour is printed. */
async function startDemo(log: string): Promise<void> {
  const path = join(folder, log);
  demo = startProgram('coordinator/cli/everynode.js', ['demo', '--data', data, '--port', '0'], path);
  const isReady = () => {
    const text = readFileSync(path, 'utf8');
    if (!demo.running) throw new Error(text);
    return text.includes('Ctrl-C stops the demo');
  };
  await until(isReady, { timeoutMs: TIMEOUT_MS, what: 'the demo to run' });
}

/** Runs an `everynode` command of the tour. */
async function tour(start: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const stop = tourStops(demoFiles(data).fix).find(({ command }) => command.startsWith(`everynode ${start}`));
  const words = stop?.command.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', '')) ?? [];
  return runEverynode(words.slice(1), { KUBECONFIG: join(data, 'kubeconfig') });
}

before(() => startDemo('first.log'));
after(() => demo.end('SIGTERM'));

test('the commands of the tour show the bad release and the offline site', async () => {
  const status = await tour('rollout status');
  assert.equal(status.code, EXIT_CODES.failed);
  assert.match(status.stdout, /^Failed \(canary\)/);
  assert.match((await tour('rollout hosts ds/till')).stdout, /Failed {2}canary/);
  assert.match((await tour('why')).stdout, /40 DeferredOffline/);
  const plan = await tour('plan');
  assert.equal(plan.code, 2, plan.stderr);
  assert.equal((await tour('rollout abort')).code, 0);
  assert.match((await tour('audit')).stdout, /rollouts/);
});

test('the demo continues after Ctrl-C, and --clean removes it', async () => {
  await demo.end('SIGINT');
  await startDemo('second.log');
  const { code } = await runEverynode(['demo', '--clean', '--data', data]);
  await demo.ended;
  assert.deepEqual([code, existsSync(data)], [0, false]);
});

test('a directory that is not of a demo is never removed', async () => {
  const { code, stderr } = await runEverynode(['demo', '--clean', '--data', folder]);
  assert.equal(code, EXIT_CODES.usage);
  assert.match(stderr, /is not the data directory of a demo/);
  assert.ok(existsSync(folder));
});
