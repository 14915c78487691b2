/** Errors that a user can act on: one sentence and an exit code instead of a stack trace. */

/** Exit codes of both programs. */
export const EXIT_CODES = {
  /** An unexpected error. */
  unexpected: 1,
  /** A wrong flag, argument or setting. Nothing was changed. */
  usage: 2,
  /** An obstacle on this machine: port in use, directory not writable, no container engine. */
  environment: 3,
  /** Data on disk that is damaged, from another version, or in use by another process. */
  data: 4,
  /** Rejected by the other side: wrong token, other cluster, name taken. */
  refused: 5,
  /** The watched operation failed, such as a rollout. */
  failed: 6,
  /** The watched operation did not finish within the timeout. */
  unfinished: 7,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** Ends the program with `code` after printing `sentence`. Can be thrown anywhere below `runProgram`. */
export class ExitError extends Error {
  constructor(
    readonly code: ExitCode,
    readonly sentence: string,
  ) {
    super(sentence);
    this.name = 'ExitError';
  }

  /** Also true for an error of another copy of this module: a bundled program and its simulation each contain one. */
  static override [Symbol.hasInstance](value: unknown): value is ExitError {
    return value instanceof Error && value.name === 'ExitError';
  }
}
