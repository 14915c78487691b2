/** Node arguments of this program: to start a part of it as a child process, and for a small heap. */
import { fileURLToPath } from 'node:url';
import { IS_BUNDLE } from '../release-version.js';

/** A part of the program that runs as a child process. */
export interface ChildProgram {
  /** First argument that selects it in a bundled program. */
  name: string;
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

/** Returns true if Node and the program are one executable, which passes all arguments to the program. */
export function isSingleExecutable(): boolean {
  return (process as unknown as WithSea).getBuiltinModule?.('node:sea')?.isSea() ?? false;
}

/**
 * Node flags for the agent, which is mostly idle on small devices. Unoptimised code is fast enough for a few events
 * each minute, and the heap stays close to its live size: 20 % less memory, measured.
 */
export const SMALL_HEAP_FLAGS: readonly string[] = [
  // `--lite-mode` implies this flag with a warning on stderr. Setting it explicitly avoids the warning. Node 24 has
  // neither.
  ...(Number.parseInt(process.versions.node, 10) < 24 ? ['--no-expose-wasm'] : []),
  '--lite-mode',
  '--max-semi-space-size=1',
  '--max-old-space-size=128',
];

/**
 * Returns the Node flags for a command of the agent. A simulated fleet has none. It is busy, and its modules are ES
 * modules: an import of `node:http` reads its export `WebSocket`, which ends Node 22 if there is no WebAssembly.
 */
export function agentNodeFlags([command]: readonly string[]): readonly string[] {
  return command === 'simulate' ? [] : SMALL_HEAP_FLAGS;
}
