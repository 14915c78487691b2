/** Reads the host's policy file. It counts from the start of the agent; one that cannot be read keeps it from starting. */
import { parse } from 'yaml';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { readIfPresent } from '../shared/process/private-file.js';
import { type HostPolicy, parseHostPolicy } from './decisions/host-policy.js';

/** The policy, undefined when there is no such file and nobody named it. Throws `ExitError`. */
export async function readHostPolicy(path: string, isNamed: boolean): Promise<HostPolicy | undefined> {
  try {
    const text = await readIfPresent(path);
    if (text === undefined && !isNamed) return undefined;
    if (text === undefined) throw new Error('there is no such file');
    return parseHostPolicy(parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ExitError(EXIT_CODES.usage, `The policy ${path} cannot be used: ${why}.`);
  }
}
