/** How this program runs a part of itself as another process: a module beside it or, where all is one file, a name. */
import { fileURLToPath } from 'node:url';
import { IS_BUNDLE } from '../program-version.js';

/** A part that runs in a process of its own. */
export interface ChildProgram {
  /** First argument by which the bundled program knows it. */
  name: string;
  /** URL of its compiled module. */
  module: URL;
}

/** What follows Node's flags to run the part. */
export function childArguments({ name, module }: ChildProgram): string[] {
  if (!IS_BUNDLE) return [fileURLToPath(module)];
  return isSingleExecutable() ? [name] : [process.argv[1] ?? '', name];
}

/** What Node itself knows of it; releases of before single executables do not have it. */
interface WithSea {
  getBuiltinModule?(name: 'node:sea'): { isSea(): boolean } | undefined;
}

/** Node and the program are one executable file: it takes every argument for the program's own, whatever link it was called by. */
export function isSingleExecutable(): boolean {
  return (process as unknown as WithSea).getBuiltinModule?.('node:sea')?.isSea() ?? false;
}
