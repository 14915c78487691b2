/** Reads kubeconfigs like kubectl: merges several files and selects a context (client-go `tools/clientcmd`). */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { CHOOSE_ANOTHER, type KubeconfigChoice } from './kubeconfig-choice.js';

type Fields = Readonly<Record<string, unknown>>;

export interface Entry {
  /** For errors: `user "ann" in FILE`. */
  title: string;
  fields: Fields;
  file: string;
}

interface Kubeconfig {
  files: readonly string[];
  currentContext: string | undefined;
  contexts: ReadonlyMap<string, Entry>;
  clusters: ReadonlyMap<string, Entry>;
  users: ReadonlyMap<string, Entry>;
}

export interface ChosenContext {
  name: string;
  file: string;
  cluster: Entry;
  user: Entry | undefined;
  namespace: string | undefined;
}

/** Reads and merges the selected files. Throws `ExitError` with the file's name. */
export function readKubeconfig({ files, source }: KubeconfigChoice): Kubeconfig {
  const texts = files.map((file) => ({ file, text: readText(file, source) }));
  const present = texts.flatMap(({ file, text }) => (text === undefined ? [] : [{ file, text }]));
  if (present.length === 0) {
    throw unusable(`No kubeconfig found: ${files.join(', ')} (${source}) does not exist.`);
  }
  return mergeKubeconfigs(present.map(({ file, text }) => ({ file, fields: parseFields(file, text) })));
}

/** Returns undefined for a missing file, because kubectl skips missing files of $KUBECONFIG. */
function readText(file: string, source: KubeconfigChoice['source']): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unusable(`The kubeconfig ${file} (${source}) cannot be read: ${message}.`);
  }
}

function parseFields(file: string, text: string): Fields {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0]?.replace(/:$/, '') : String(error);
    throw unusable(`The kubeconfig ${file} is not YAML: ${why}.`);
  }
  if (value === null || value === undefined) throw unusable(`The kubeconfig ${file} is empty.`);
  if (!isFields(value)) throw unusable(`The kubeconfig ${file} is not a YAML mapping.`);
  return value;
}

/** The first file that names something wins. Throws `ExitError`. */
function mergeKubeconfigs(read: readonly { file: string; fields: Fields }[]): Kubeconfig {
  const named = (list: string, member: string) =>
    new Map(read.flatMap(({ file, fields }) => entriesOf(file, fields[list], list, member)).reverse());
  const currentContexts = read.map(({ fields }) => fields['current-context']);
  return {
    files: read.map(({ file }) => file),
    currentContext: currentContexts.find((name) => typeof name === 'string' && name !== '') as
      | string
      | undefined,
    contexts: named('contexts', 'context'),
    clusters: named('clusters', 'cluster'),
    users: named('users', 'user'),
  };
}

function entriesOf(file: string, list: unknown, key: string, member: string): [string, Entry][] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw unusable(`${file}: ${key} is not a list.`);
  return list.map((item: unknown, index): [string, Entry] => {
    const value = isFields(item) ? item[member] : undefined;
    if (!isFields(item) || typeof item.name !== 'string' || !isFields(value ?? {})) {
      throw unusable(`${file}: ${key}[${index}] is not of the form {name: NAME, ${member}: {…}}.`);
    }
    const title = `${member} "${item.name}" in ${file}`;
    return [item.name, { title, fields: (value ?? {}) as Fields, file }];
  });
}

/** Returns the context of this name, or the current context. Throws `ExitError` that names what is missing. */
export function chooseContext(config: Kubeconfig, wanted: string | undefined): ChosenContext {
  const where = config.files.join(', ');
  const known = [...config.contexts.keys()].sort().join(', ');
  const name = wanted ?? config.currentContext;
  if (name === undefined) {
    if (!known) throw unusable(`The kubeconfig ${where} has no contexts.`);
    throw unusable(`The kubeconfig ${where} has no current context: pass --context with one of ${known}.`);
  }
  const context = config.contexts.get(name);
  if (!context) {
    throw unusable(`There is no context "${name}" in ${where}${known ? `, only ${known}` : ''}.`);
  }
  const cluster = config.clusters.get(textOf(context, 'cluster') ?? '');
  if (!cluster) throw unusable(`The cluster of the ${context.title} does not exist.`);
  const userName = textOf(context, 'user');
  const user = userName === undefined ? undefined : config.users.get(userName);
  if (userName !== undefined && !user)
    throw unusable(`The user "${userName}" of the ${context.title} does not exist.`);
  return { name, file: context.file, cluster, user, namespace: textOf(context, 'namespace') };
}

/** Returns a text field; undefined if it is absent or empty. Throws `ExitError` for another type. */
export function textOf({ title, fields }: Entry, key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw unusable(`The ${title}: ${key} must be a string.`);
}

/**
 * Returns the decoded `KEY-data`, or else the content of the file `KEY`. A relative path starts at the kubeconfig's
 * folder.
 */
export function textOrFile(entry: Entry, key: string): string | undefined {
  const data = textOf(entry, `${key}-data`);
  return data === undefined ? fileText(entry, key) : Buffer.from(data, 'base64').toString();
}

/** Returns the content of the file that the field names. Throws `ExitError`. */
export function fileText(entry: Entry, key: string): string | undefined {
  const path = textOf(entry, key);
  if (path === undefined) return undefined;
  try {
    return readFileSync(resolve(dirname(entry.file), path), 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unusable(`The ${entry.title}: ${key} cannot be read: ${why}.`);
  }
}

export function unusable(sentence: string): ExitError {
  return new ExitError(EXIT_CODES.environment, `${sentence} ${CHOOSE_ANOTHER}`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
