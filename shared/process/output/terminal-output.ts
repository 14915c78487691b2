/**
 * Everything that a program prints for people goes through here. Names, messages and reasons come from hosts and users: a control
 * character in one of them could move the cursor, rewrite lines that were printed before, or hide text.
 */

/** C0 except newline, DEL and C1, and the characters that reorder text (U+202A to U+202E, U+2066 to U+2069). */
const CONTROL = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The text with each control character except newline as `\uXXXX`. Text that is JSON keeps its meaning. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for one line: a newline becomes `\n`, so that a name or a message cannot look like a second line. */
export function escapeLine(line: string): string {
  return escapeControls(line).replaceAll('\n', '\\n');
}

/** Prints one line to standard output. */
export function printLine(line: string): void {
  process.stdout.write(`${escapeLine(line)}\n`);
}

/** Prints text with newlines that the program wrote: JSON, YAML, help. */
export function printDocument(text: string): void {
  process.stdout.write(escapeControls(text));
}

/** Prints one line to standard error. */
export function printErrorLine(line: string): void {
  process.stderr.write(`${escapeLine(line)}\n`);
}

/** The same to standard error. */
export function printErrorDocument(text: string): void {
  process.stderr.write(escapeControls(text));
}

/** Asks at the terminal and returns true for `y` or `yes`; undefined without a terminal to ask at. */
export async function confirmAtTerminal(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  // Loaded only here: an agent that runs for years never asks.
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${escapeLine(question)} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
