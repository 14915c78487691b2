/** Splits a typed command into arguments. Pure. */

/** Splits `sh -c "a b"` into `sh`, `-c` and `a b`. Supports quotes, but no other shell syntax. */
export function splitCommand(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return words.map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}
