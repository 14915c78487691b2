/** The words of a command as a person types it. Pure. */

/** `sh -c "a b"` → `sh`, `-c`, `a b`: quotes keep words together; nothing else of a shell is known. */
export function splitCommand(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return words.map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}
