/** The console's explanation of a container's exit, and its splitting of a command line. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ContainerStateTerminated, ContainerStatus, Pod } from '../../../shared/kube/pods/pod-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

interface ExitExplanation {
  explainExit(end: ContainerStateTerminated): string;
  nextRestartTime(status: ContainerStatus): string | undefined;
}
interface Words {
  splitCommand(command: string): string[];
}

interface LogsQuery {
  logsInQuery(text: string): string[];
  readLog(text: string): { namespace: string; pod: string; container?: string };
  logOfPod(pod: Pod): string;
}

let ends: ExitExplanation;
let words: Words;
before(async () => {
  ends = await consoleModule<ExitExplanation>('pods/exit-explanation.ts');
  words = await consoleModule<Words>('pods/split-command.ts');
});

test('the page of logs shows valid logs of its URL, each once, and at most three', async () => {
  const { logsInQuery } = await consoleModule<LogsQuery>('pods/logs-query.ts');
  assert.deepEqual(logsInQuery(''), []);
  assert.deepEqual(logsInQuery('a/x, a/x,b/y-1.z'), ['a/x', 'b/y-1.z']);
  assert.deepEqual(logsInQuery('a/x,a/y,a/z,a/w'), ['a/x', 'a/y', 'a/z']);
  assert.deepEqual(logsInQuery('a/x/main,a/x/proxy'), ['a/x/main', 'a/x/proxy']);
  assert.deepEqual(logsInQuery('x,a/../b,A/x,a/x?b,a/x/,a/x/m/n,a/x/M,a/x/m.n'), []);
});

test('a log of a Pod with several containers names its container, because the API requires it', async () => {
  const { logOfPod, readLog } = await consoleModule<LogsQuery>('pods/logs-query.ts');
  const podOf = (...names: string[]): Pod => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'shop', name: 'till-x' } },
    spec: { containers: names.map((name) => ({ name, image: 'till:1' })) },
  });
  assert.equal(logOfPod(podOf('main')), 'shop/till-x');
  assert.equal(logOfPod(podOf('main', 'proxy')), 'shop/till-x/main');
  assert.deepEqual(readLog('shop/till-x'), { namespace: 'shop', pod: 'till-x' });
  assert.deepEqual(readLog('shop/till-x/main'), { namespace: 'shop', pod: 'till-x', container: 'main' });
});

const ENDS: [end: ContainerStateTerminated, words: RegExp][] = [
  [{ exitCode: 0, reason: 'Completed' }, /^exit code 0: it completed successfully/],
  [{ exitCode: 137, reason: 'Error' }, /^exit code 137: SIGKILL/],
  [{ exitCode: 137, reason: 'OOMKilled' }, /^exit code 137: .*exceeded its memory limit/],
  [{ exitCode: 143, reason: 'Error' }, /SIGTERM/],
  [{ exitCode: 139, reason: 'Error' }, /SIGSEGV/],
  [{ exitCode: 127, reason: 'Error' }, /not in the image/],
  [{ exitCode: 0, signal: 11, reason: 'Error' }, /^exit code 0: SIGSEGV/],
  [{ exitCode: 42, reason: 'Error' }, /^exit code 42: specific to the program$/],
  [{ exitCode: 200, reason: 'Error' }, /specific to the program$/],
];

test('an exit code is shown with its meaning', () => {
  for (const [end, expected] of ENDS) assert.match(ends.explainExit(end), expected);
});

test('the end of a back-off is the last exit plus the delay that the host reports', () => {
  const waiting = (message: string): ContainerStatus => ({
    ...{ name: 'c', ready: false, restartCount: 3, image: '', imageID: '' },
    state: { waiting: { reason: 'CrashLoopBackOff', message } },
    lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:00:00Z' } },
  });
  const text = (pause: string) => `back-off ${pause} restarting failed container=c pod=p_default(u)`;
  assert.equal(ends.nextRestartTime(waiting(text('10s'))), '2026-01-01T00:00:10.000Z');
  assert.equal(ends.nextRestartTime(waiting(text('2m40s'))), '2026-01-01T00:02:40.000Z');
  assert.equal(ends.nextRestartTime(waiting('something else')), undefined);
});

test('a command line is split into words as a shell splits it', () => {
  assert.deepEqual(words.splitCommand(' sh  -c "echo a b" '), ['sh', '-c', 'echo a b']);
  assert.deepEqual(words.splitCommand("a 'b c' d"), ['a', 'b c', 'd']);
  assert.deepEqual(words.splitCommand(''), []);
});
