/**
 * `npm run storm -- [AGENTS]`: kills the coordinator, measures the whole fleet's return, and the time until lost hosts
 * are shown.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmScript, parseScriptArguments, wholeNumber } from '../../harness/processes/npm-script.js';
import { BenchDaemonSet } from '../bench-daemonset.js';
import { HollowFleet } from '../hollow/hollow-fleet.js';
import { checkDetection } from './check-detection.js';
import { checkStorm } from './check-storm.js';

const script = npmScript(
  'storm',
  'Times how soon lost hosts are shown, kills the coordinator and times the return of the whole fleet; exit code 1 when a rule is broken.',
);
const {
  words: [agents],
} = await parseScriptArguments<object, [number]>(
  script.argument('[agents]', 'pretended hosts', wholeNumber, 5_000),
);
const folder = mkdtempSync(join(tmpdir(), 'enstorm-'));
const product = await HollowFleet.start(join(folder, 'product'), agents);
try {
  await product.join();
  const daemonSet = new BenchDaemonSet(product.api);
  await daemonSet.create();
  await daemonSet.untilReady(agents);
  await product.untilQuiet();
  const tell = (what: string) => void process.stdout.write(`${what}\n`);
  await checkDetection(product, tell);
  await checkStorm(product, tell);
  process.stdout.write('all rules held\n');
} finally {
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
}
