/** Failures that a person can act on: one clear sentence and an exit code, never a stack trace. */

/** Exit codes of both programs. 1 is left to the unexpected. */
export const EXIT_CODES = {
  unexpected: 1,
  /** A wrong flag, setting or command. */
  usage: 2,
  /** The machine refuses: port in use, directory not writable, no container engine. */
  environment: 3,
  /** Data on disk that is damaged, newer than this program, or in use by another. */
  data: 4,
  /** The other side refuses: wrong token, other cluster, name taken. */
  refused: 5,
  /** What was watched has ended badly: a rollout that failed. */
  failed: 6,
  /** What was watched has not ended in time. */
  unfinished: 7,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** Ends the program with `code` after saying `sentence`; thrown anywhere below `runProgram`. */
export class ExitError extends Error {
  constructor(
    readonly code: ExitCode,
    readonly sentence: string,
  ) {
    super(sentence);
    this.name = 'ExitError';
  }

  /** Of another copy of this module too: a simulation lies beside the bundle that its program is. */
  static override [Symbol.hasInstance](value: unknown): value is ExitError {
    return value instanceof Error && value.name === 'ExitError';
  }
}
