/** The option `-o` of commands that print what the API returned. */
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';

/** `text`: for people. `wide`: with more columns. `json` and `yaml`: for programs, all fields. */
export type OutputForm = 'text' | 'wide' | 'json' | 'yaml';

/** Adds the option `-o`. `hasWide`: the command has a table with more columns. */
export function addOutputOption(command: Command, { hasWide = false } = {}): Command {
  const forms: OutputForm[] = hasWide ? ['text', 'wide', 'json', 'yaml'] : ['text', 'json', 'yaml'];
  return command.addOption(
    new Option('-o, --output <FORM>', 'form of the output').choices(forms).default('text'),
  );
}

/** Returns the value as a document in this form, or undefined for a form that is for people. */
export function documentIn(form: OutputForm, value: unknown): string | undefined {
  if (form === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  return form === 'yaml' ? stringify(value) : undefined;
}

/** Returns a stream of documents, one for each value: a line in JSON, a document in YAML. See `documentIn`. */
export function documentsIn(form: OutputForm, values: readonly unknown[]): string | undefined {
  if (form === 'json') return values.map((value) => `${JSON.stringify(value)}\n`).join('');
  return form === 'yaml' ? values.map((value) => `---\n${stringify(value)}`).join('') : undefined;
}
