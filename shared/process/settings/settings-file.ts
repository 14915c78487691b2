/** The settings file of an installed program. Installations only change settings that they are given. */
import { parseDocument } from 'yaml';
import { EXIT_CODES, ExitError } from '../exit-error.js';

/**
 * Returns the text of the file with the given settings replaced. Comments and other settings are preserved. A new file
 * starts with the comment `head`. Throws `ExitError` if the file is not YAML.
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
    throw new ExitError(EXIT_CODES.usage, `The settings file is not valid YAML; fix or remove it: ${line}`);
  }
  if (Object.keys(given).length === 0) return present ?? head;
  for (const [key, value] of Object.entries(given)) document.set(key, value);
  return document.toString();
}
