/** Control characters of hosts and users never reach a terminal, and all printing goes through one file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { escapeControls, escapeLine } from '../../../shared/process/output/terminal-output.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
const DIST = join(ROOT, 'dist');

for (const [name, text, printed] of [
  ['an escape sequence', '\x1b[2Jgone', '\\u001b[2Jgone'],
  ['a carriage return', 'ok\rFAILED', 'ok\\u000dFAILED'],
  ['a bell, a backspace and a tab', '\x07\b\t', '\\u0007\\u0008\\u0009'],
  ['DEL', 'a\x7fb', 'a\\u007fb'],
  ['a control sequence introducer of C1', '\u009b31m', '\\u009b31m'],
  ['the overrides of text direction', '\u202e\u2066\u2069', '\\u202e\\u2066\\u2069'],
  ['text of any language', 'Grüße, 東京 · …', 'Grüße, 東京 · …'],
] as const) {
  test(`${name} is printed as ${JSON.stringify(printed)}`, () => assert.equal(escapeControls(text), printed));
}

test('a document keeps its newlines, a line has none', () => {
  assert.equal(escapeControls('a\nb\n'), 'a\nb\n');
  assert.equal(escapeLine('web\nRunning: all is well'), 'web\\nRunning: all is well');
});

test('JSON has the same meaning after escaping', () => {
  const value = { name: '\x1b]0;x\x07\u009b\u202e\x7f\n' };
  const escaped = escapeControls(JSON.stringify(value, null, 2));
  assert.match(escaped, /^[\n\x20-\x7e]+$/);
  assert.deepEqual(JSON.parse(escaped), value);
});

/** Runs the statements as a separate program and returns its output. */
function printedBy(statements: string): { stdout: string; stderr: string } {
  const url = (path: string) => JSON.stringify(join(DIST, 'shared/process', path));
  const imports = [
    `import { createLogger } from ${url('output/logger.js')};`,
    `import { ExitError } from ${url('exit-error.js')};`,
    `import { runProgram } from ${url('service/program-lifecycle.js')};`,
    `import { createCommandLine, runCommandLine } from ${url('settings/command-line.js')};`,
  ];
  return spawnSync(process.execPath, ['--input-type=module', '-e', [...imports, statements].join('\n')], {
    encoding: 'utf8',
  });
}

test('messages of errors, stacks, help and log lines are escaped', () => {
  const evil = '"\\u001b]0;x\\u0007\\u009b\\u202e"';
  for (const statements of [
    `await runProgram(async () => { throw new ExitError(3, ${evil}); });`,
    `await runProgram(async () => { throw new Error(${evil}); });`,
    `await runProgram(() => runCommandLine(createCommandLine('p', ${evil}), ['--help']));`,
    `await runProgram(() => runCommandLine(createCommandLine('p', ''), [${evil}]));`,
    `createLogger('info').info({ pod: ${evil} }, 'm');`,
  ]) {
    const { stdout, stderr } = printedBy(statements);
    assert.match(stdout + stderr, /\\u001b\]0;x\\u0007\\u009b\\u202e/, statements);
    assert.doesNotMatch(stdout + stderr, /[^\P{Cc}\n]|\u202e/u, statements);
  }
});

/** Files that write to standard output or standard error themselves. */
const WRITERS = new Set([
  'shared/process/output/terminal-output.ts',
  // Passes standard error to ProgressLine, which redraws a line in place and escapes the texts in it.
  'agent/simulate/simulate-fleet.ts',
  // Redraws the line of a step, and escapes the text in it.
  'coordinator/cli/terminal/terminal-progress.ts',
]);

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourcesBelow(path);
    return /\.c?ts$/.test(entry.name) ? [path] : [];
  });
}

test('no source file prints without terminal-output.ts', () => {
  const files = ['agent', 'coordinator', 'shared'].flatMap(sourcesBelow);
  assert.ok(files.length > 500, `${files.length} files were searched`);
  const printing = files.filter((path) =>
    /process\.std(out|err)|console\.\w+\(|\bfd\/[12]\b/.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  assert.deepEqual(new Set(printing), WRITERS);
});
