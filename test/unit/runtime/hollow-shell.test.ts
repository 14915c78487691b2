/** The shell of hollow containers, with which terminals of simulated fleets can be tried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HollowProcess } from '../../../agent/runtime/hollow/hollow-process.js';
import { systemClock } from '../../../shared/process/time/clock.js';

const cases: readonly [what: string, typed: string, printed: string, exitCode: number][] = [
  [
    'runs lines and ends with the code of `exit`',
    'echo a  b\rexit 3\r',
    '$ echo a  b\r\na b\n$ exit 3\r\n',
    3,
  ],
  ['ends with its input', 'true\r', '$ true\r\n$ ', 0],
  [
    'keeps its input from other programs',
    'cat\rexit\r',
    '$ cat\r\nA simulated shell cannot run it.\r\n$ exit\r\n',
    0,
  ],
];
for (const [what, typed, printed, exitCode] of cases) {
  test(`a simulated shell ${what}`, async () => {
    const request = { command: ['sh'], stdin: true, tty: true };
    const shell = new HollowProcess(request, undefined, systemClock, new AbortController().signal);
    await shell.write(Buffer.from(typed));
    shell.endInput();
    let output = '';
    for await (const { bytes } of shell.output) output += Buffer.from(bytes).toString();
    assert.equal(output, printed);
    assert.equal(await shell.exitCode(), exitCode);
  });
}
