/** Manual pages: the help's parts become roff that a formatter accepts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { manPage } from '../../reference/man-pages.js';
import { everynodeHelp } from '../../reference/program-help.js';

const ABOUT = { version: '1.2.3', date: '2026-11-27' };

test('a page names the program, and lists each option and command with its whole meaning', () => {
  const text = `Usage: example [options]

Does one thing.

Options:
  --data <DIR>  directory of the data,
                also of the keys
  -h, --help    display help

Commands:
  .hidden       'quoted' \\ text`;
  assert.equal(
    manPage('example', ABOUT, [{ path: 'example', text }]),
    `.TH EXAMPLE 1 "2026-11-27" "Everynode 1.2.3" "Everynode"
.SH NAME
example \\- Does one thing
.SH COMMANDS
.SS example
.B example [options]
.PP
Does one thing.
.PP
Options:
.TP
.B \\-\\-data <DIR>
directory of the data, also of the keys
.TP
.B \\-h, \\-\\-help
display help
.PP
Commands:
.TP
.B \\&.hidden
\\&'quoted' \\e text
.SH FILES
.TP
.I /etc/everynode
Settings of the services.
.SH SEE ALSO
.BR everynode (1)
`,
  );
});

test('mandoc finds no error in the page of everynode, and the page has every command', (context) => {
  const help = everynodeHelp(10_000);
  const page = manPage('everynode', ABOUT, help);
  for (const { path } of help) assert.ok(page.includes(`.SS ${path.replaceAll('-', '\\-')}\n`), path);
  if (!existsSync('/usr/bin/mandoc')) return leaveOut(context, 'the check of manual pages', 'needs mandoc');
  const checked = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning'], { input: page, encoding: 'utf8' });
  assert.equal(checked.stdout, '');
});
