/** States in tables are coloured on a terminal, and no other text is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourStates } from '../../../shared/process/output/state-colours.js';

const red = (text: string) => `\u001b[31m${text}\u001b[0m`;
const green = (text: string) => `\u001b[32m${text}\u001b[0m`;
const yellow = (text: string) => `\u001b[33m${text}\u001b[0m`;

for (const [name, line, coloured] of [
  ['the first cell', 'error  port  in use', `${red('error')}  port  in use`],
  ['a cell between others', 'n1  Succeeded  0', `n1  ${green('Succeeded')}  0`],
  ['the last cell', 'n1  Missed', `n1  ${yellow('Missed')}`],
  ['a cell before the blanks of its column', 'n1  Failed     1', `n1  ${red('Failed')}     1`],
  ['an indented cell', '  ok  clock', `  ${green('ok')}  clock`],
  ['a word in a sentence', 'n1  it has Failed twice', 'n1  it has Failed twice'],
  ['a name that contains a state', 'Failed-1  x', 'Failed-1  x'],
  ['a name of an object of JavaScript', 'constructor  x', 'constructor  x'],
] as const) {
  test(`${name}: ${JSON.stringify(line)}`, () => assert.equal(colourStates(line), coloured));
}
