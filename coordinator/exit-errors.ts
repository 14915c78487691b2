/** Converts errors of the data directory to exit codes. */
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { StoreError, type StoreErrorCode } from './store/store-error.js';

const CODES: Record<StoreErrorCode, keyof typeof EXIT_CODES> = {
  locked: 'data',
  occupied: 'refused',
  damaged: 'data',
  newer: 'data',
  older: 'data',
  absent: 'environment',
  unwritable: 'environment',
  full: 'environment',
  unavailable: 'environment',
  unknown: 'environment',
  closed: 'unexpected',
  failed: 'data',
};

/**
 * Runs `work` and converts a StoreError to an ExitError. `option` is the option that sets the path which `work` writes
 * to.
 */
export async function withExitErrors<T>(work: () => Promise<T>, option = '--data'): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}${adviceOn(error.code, option)}.`;
    throw new ExitError(EXIT_CODES[CODES[error.code]], sentence);
  }
}

function adviceOn(code: StoreErrorCode, option: string): string {
  if (code === 'unwritable') return `: choose another place with ${option}`;
  return code === 'absent' ? ": pass the coordinator's data directory with --data" : '';
}
