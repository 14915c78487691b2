/** What is wrong with the data, as a sentence and an exit code. */
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { StoreError, type StoreErrorCode } from './store/store-error.js';

const CODES: Record<StoreErrorCode, keyof typeof EXIT_CODES> = {
  locked: 'data',
  occupied: 'refused',
  damaged: 'data',
  newer: 'data',
  unwritable: 'environment',
  full: 'environment',
  closed: 'unexpected',
  failed: 'data',
};

/** Runs what touches the data directory; a StoreError becomes an ExitError, anything else passes. */
export async function forOperator<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
    throw new ExitError(EXIT_CODES[CODES[error.code]], sentence);
  }
}
