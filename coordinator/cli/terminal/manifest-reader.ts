/** Reads manifests like kubectl: files, directories and standard input, each with one or more documents. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';

const ENDINGS = ['.yaml', '.yml', '.json'];
const STDIN = 0;

/**
 * Returns all non-empty documents in the order of the names. Throws ExitError for an unreadable file or invalid YAML.
 */
export function readManifests(names: readonly string[], recursive: boolean): unknown[] {
  return names.flatMap((name) => filesOf(name, recursive)).flatMap(documentsOf);
}

/** Keeps `-`. Replaces a directory by its manifests, sorted by name. */
function filesOf(name: string, recursive: boolean): string[] {
  if (name === '-') return [name];
  const isDirectory = attempt(name, () => statSync(name).isDirectory());
  if (!isDirectory) return [name];
  const entries = readdirSync(name, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(name, entry.name);
    if (entry.isDirectory()) return recursive ? filesOf(path, true) : [];
    return ENDINGS.some((ending) => entry.name.endsWith(ending)) ? [path] : [];
  });
}

function documentsOf(name: string): unknown[] {
  const text = attempt(name, () => readFileSync(name === '-' ? STDIN : name, 'utf8'));
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw unreadable(name, problem.message);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    if (typeof value !== 'object' || Array.isArray(value))
      throw unreadable(name, 'a document is not an object');
    return [value];
  });
}

function attempt<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(name, error instanceof Error ? error.message : String(error));
  }
}

function unreadable(name: string, why: string): ExitError {
  return new ExitError(
    EXIT_CODES.unexpected,
    `cannot read ${name === '-' ? 'standard input' : name}: ${why.split('\n')[0]}`,
  );
}
