/** Manual pages of both programs, made from the help texts that docs/reference/cli.md shows. */
import type { ProgramHelp } from './program-help.js';

/** Escapes text for roff: backslashes, hyphens that a user may copy, and a control character at the start of a line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(['.])/gm, '\\&$1');
}

/** A list of help, `  NAME   meaning`, as tagged paragraphs. A wrapped meaning continues on lines with a deeper indent. */
function listOf(lines: readonly string[]): string[] {
  const items = lines
    .join('\n')
    .replace(/\n {4,}/g, ' ')
    .split('\n');
  return items.flatMap((line) => {
    const [name = '', ...meaning] = line.trim().split(/ {2,}/);
    return ['.TP', `.B ${escaped(name)}`, escaped(meaning.join(' '))];
  });
}

/** One command's help: usage, description, and its lists of options and commands. */
function sectionOf({ path, text }: ProgramHelp): string[] {
  const [usage = '', ...blocks] = text.trim().split('\n\n');
  const out = [`.SS ${escaped(path)}`, `.B ${escaped(usage.replace(/^Usage: /, ''))}`];
  for (const block of blocks) {
    const [head = '', ...lines] = block.split('\n');
    if (/^[A-Z]\w+:$/.test(head)) out.push('.PP', escaped(head), ...listOf(lines));
    else out.push('.PP', escaped(block));
  }
  return out;
}

/**
 * The manual page of a program in section 1, from the unwrapped help of its commands. The first one is the program.
 * `date` is that of the release, as `2026-11-27`.
 */
export function manPage(
  program: string,
  { version, date }: { version: string; date: string },
  help: readonly ProgramHelp[],
): string {
  const summary = help[0]?.text.trim().split('\n\n')[1] ?? '';
  const lines = [
    `.TH ${program.toUpperCase().replaceAll('-', '\\-')} 1 "${date}" "Everynode ${version}" "Everynode"`,
    '.SH NAME',
    `${escaped(program)} \\- ${escaped(summary.replace(/\.$/, ''))}`,
    '.SH COMMANDS',
    ...help.flatMap(sectionOf),
    '.SH FILES',
    '.TP',
    '.I /etc/everynode',
    'Settings of the services.',
    '.SH SEE ALSO',
    program === 'everynode' ? '.BR everynode\\-agent (1)' : '.BR everynode (1)',
  ];
  return `${lines.join('\n')}\n`;
}
