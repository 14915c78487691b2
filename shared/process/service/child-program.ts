/**
 * Starts a part of this program as a child process: its module in a normal installation, its name if the program is one
 * file.
 */
import { fileURLToPath } from 'node:url';
import { IS_BUNDLE } from '../program-version.js';

/** A part of the program that runs as a child process. */
export interface ChildProgram {
  /** First argument that selects it in a bundled program. */
  name: string;
  /** URL of its compiled module. */
  module: URL;
}

/** Returns the arguments after Node's flags. */
export function childArguments({ name, module }: ChildProgram): string[] {
  if (!IS_BUNDLE) return [fileURLToPath(module)];
  return isSingleExecutable() ? [name] : [process.argv[1] ?? '', name];
}

/** Node before version 20.16 has no `getBuiltinModule`. */
interface WithSea {
  getBuiltinModule?(name: 'node:sea'): { isSea(): boolean } | undefined;
}

/**
 * Returns true if Node and the program are one executable file. Such a file passes all arguments to the program, even
 * if it is started through a link named `node`.
 */
export function isSingleExecutable(): boolean {
  return (process as unknown as WithSea).getBuiltinModule?.('node:sea')?.isSea() ?? false;
}
