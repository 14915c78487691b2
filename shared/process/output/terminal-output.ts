/** All output for terminals. Control characters from hosts or users could rewrite lines or hide text. */
import { colourStates } from './state-colours.js';

/** C0 except newline, DEL and C1, and bidirectional controls (U+202A to U+202E, U+2066 to U+2069). */
const CONTROL = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces each control character except newline by `\uXXXX`. The meaning of JSON is preserved. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like `escapeControls`, and replaces newlines by `\n`, so that a name or message cannot imitate a second line. */
export function escapeLine(line: string): string {
  return escapeControls(line).replaceAll('\n', '\\n');
}

/** Prints a line. A terminal shows states in colour, unless NO_COLOR is set; FORCE_COLOR needs a terminal too. */
export function printLine(line: string): void {
  const escaped = escapeLine(line);
  process.stdout.write(`${hasColours() ? colourStates(escaped) : escaped}\n`);
}

/** A pipe or a file has no `hasColors`. */
function hasColours(): boolean {
  return process.stdout.isTTY && process.stdout.hasColors();
}

/** Prints text with intended newlines: JSON, YAML or help. */
export function printDocument(text: string): void {
  process.stdout.write(escapeControls(text));
}

export function printErrorLine(line: string): void {
  process.stderr.write(`${escapeLine(line)}\n`);
}

/** Prints text with intended newlines to standard error. */
export function printErrorDocument(text: string): void {
  process.stderr.write(escapeControls(text));
}

/** Asks a question at the terminal. Returns true for `y` or `yes`, and undefined without a terminal. */
export async function confirmAtTerminal(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  // Loaded on demand: a service never asks.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${escapeLine(question)} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
