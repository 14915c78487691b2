/**
 * Mutates source files by Stryker's instrumenter. All mutants of a file are in one instrumented file, and an environment
 * variable switches one of them on. So the project is compiled once for all mutants.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { transform } from 'esbuild';

/** A change of the source that a test should notice. */
export interface Mutant {
  id: string;
  fileName: string;
  mutatorName: string;
  replacement: string;
  /** Counted from 0. */
  location: { start: Position; end: Position };
}

interface Position {
  line: number;
  column: number;
}

interface MutatedFiles {
  mutants: Mutant[];
  /** The instrumented TypeScript of each source file. */
  contents: Map<string, string>;
}

/** Texts are not mutated, because most of them are read by people only. */
const EXCLUDED = ['StringLiteral'];

/** Returns the mutants of source files. Paths are relative to `root`. */
export async function mutateFiles(root: string, files: readonly string[]): Promise<MutatedFiles> {
  const silent = { isDebugEnabled: () => false, debug: () => undefined, info: () => undefined };
  const instrumenter = new Instrumenter(silent as unknown as ConstructorParameters<typeof Instrumenter>[0]);
  const sources = files.map((name) => ({
    ...{ name, mutate: true },
    content: readFileSync(join(root, name), 'utf8'),
  }));
  const result = await instrumenter.instrument(sources, {
    ...{ plugins: null, excludedMutations: EXCLUDED, ignorers: [] },
  });
  return {
    mutants: result.mutants.filter(({ status }) => status === undefined),
    contents: new Map(result.files.map(({ name, content }) => [name, content])),
  };
}

/** Compiles an instrumented file into the copy of `dist/`. */
export async function writeMutated(copy: string, name: string, content: string): Promise<void> {
  const options = { loader: 'ts', format: 'esm', target: 'es2023' } as const;
  const { code } = await transform(content, {
    ...options,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  writeFileSync(join(copy, name.replace(/\.ts$/, '.js')), code);
}

/** Returns the place and the change of a mutant in one line. */
export function mutantText(
  { fileName, location: { start, end }, replacement }: Mutant,
  root: string,
): string {
  const lines = readFileSync(join(root, fileName), 'utf8').split('\n');
  const first = lines[start.line] ?? '';
  const original =
    start.line === end.line ? first.slice(start.column, end.column) : `${first.slice(start.column)} …`;
  const place = `${fileName}:${start.line + 1}:${start.column + 1}`;
  return `${place}  ${shortened(original)}  →  ${shortened(replacement)}`;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}
