/** The console's explanation of a container's exit, and its splitting of a command line. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ContainerStateTerminated, ContainerStatus } from '../../../shared/kube/pods/pod-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

interface ExitExplanation {
  explainExit(end: ContainerStateTerminated): string;
  nextRestartTime(status: ContainerStatus): string | undefined;
}
interface Words {
  splitCommand(command: string): string[];
}

interface LogsQuery {
  podsInQuery(text: string): string[];
}

let ends: ExitExplanation;
let words: Words;
before(async () => {
  ends = await consoleModule<ExitExplanation>('pods/exit-explanation.ts');
  words = await consoleModule<Words>('pods/split-command.ts');
});

test('the page of logs shows valid Pods of its URL, each once, and at most three', async () => {
  const { podsInQuery } = await consoleModule<LogsQuery>('pods/logs-query.ts');
  assert.deepEqual(podsInQuery(''), []);
  assert.deepEqual(podsInQuery('a/x, a/x,b/y-1.z'), ['a/x', 'b/y-1.z']);
  assert.deepEqual(podsInQuery('a/x,a/y,a/z,a/w'), ['a/x', 'a/y', 'a/z']);
  assert.deepEqual(podsInQuery('x,a/../b,a/x/y,A/x,a/x?b'), []);
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
