/** Errors of etcd and of the fleet's keys as sentences for operators. */
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { whileAlive } from '../../../shared/process/service/keep-alive.js';
import { FleetKeysError } from '../../cluster/keys/fleet-keys.js';
import { MemberFileError } from '../../cluster/member-file.js';
import { withExitErrors } from '../../exit-errors.js';

/** Converts errors that an operator can fix to `ExitError`. */
export function withClusterErrors<T>(work: () => Promise<T>): Promise<T> {
  return withExitErrors(async () => {
    try {
      return await whileAlive(work);
    } catch (error) {
      throw exitErrorOf(error) ?? error;
    }
  });
}

function exitErrorOf(error: unknown): ExitError | undefined {
  if (!(error instanceof Error)) return undefined;
  const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  if (error.name === 'EtcdRefused' && 'code' in error) {
    const codes: Record<string, keyof typeof EXIT_CODES> = { usage: 'usage', refused: 'refused' };
    return new ExitError(EXIT_CODES[codes[String(error.code)] ?? 'environment'], sentence);
  }
  if (error.name === 'LogUnavailable') {
    return new ExitError(EXIT_CODES.environment, `etcd does not answer: ${error.message}.`);
  }
  if (error instanceof FleetKeysError || error instanceof MemberFileError) {
    return new ExitError(EXIT_CODES.data, sentence);
  }
  return undefined;
}
