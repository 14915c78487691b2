/** The one file of an installed program's settings: written at the first installation, amended by what a later one is given. */
import { parseDocument } from 'yaml';
import { EXIT_CODES, ExitError } from '../exit-error.js';

/**
 * The file's text with the given settings in the place of the old; comments and everything else stay.
 * `present` is undefined when there is none: it begins with the comment `head` then. Throws `ExitError` when it is not YAML.
 */
export function updateSettingsFile(
  present: string | undefined,
  head: string,
  given: Readonly<Record<string, string>>,
): string {
  const document = parseDocument(present ?? head);
  const [error] = document.errors;
  if (error) {
    const line = error.message.split('\n')[0];
    throw new ExitError(EXIT_CODES.usage, `The settings file is not YAML, mend or remove it: ${line}`);
  }
  if (Object.keys(given).length === 0) return present ?? head;
  for (const [key, value] of Object.entries(given)) document.set(key, value);
  return document.toString();
}
