/** The documents name only files, folders and identifiers that exist. A document that names a removed one misleads its readers. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const FOLDERS = [
  'agent',
  'console',
  'coordinator',
  'docs',
  'examples',
  'release',
  'shared',
  'systemd',
  'test',
];
const SOURCE = /\.(ts|tsx|mjs|cts)$/;
/** A path as the documents write it: `hub/`, `kinds/index.ts`, `e2e/two-hosts`, `agent/{volumes,streams}`. */
const PATH = /^[\w.-]+(?:[/{][\w.,{}/-]*|\.(?:ts|tsx|mjs))$/;
/** A placeholder in place of a name: `hosts/NAME/readings`. */
const PLACEHOLDER = /[A-Z]{2}/;
const IDENTIFIER = /^(?:[a-z][a-z0-9]*|[A-Z][a-z0-9]+)(?:[A-Z][a-z0-9]*)+(?:\.\w+)?$/;

function placesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? [path, ...placesBelow(path)] : [path];
  });
}

/** Every document that people write; docs/reference is generated. */
const DOCUMENTS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'test/README.md',
  ...placesBelow('docs').filter((path) => path.endsWith('.md') && !path.startsWith('docs/reference/')),
];
const FILES_AT_ROOT = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) =>
  entry.isFile() ? [entry.name] : [],
);
const PLACES = [...FOLDERS, ...FOLDERS.flatMap(placesBelow), ...FILES_AT_ROOT];
/** Names of all folders. */
const ROOMS = new Set(PLACES.flatMap((path) => path.split('/').slice(0, -1)));
const SOURCES = PLACES.filter((path) => SOURCE.test(path)).map((path) =>
  readFileSync(join(ROOT, path), 'utf8'),
);
const WORDS = new Set(SOURCES.flatMap((text) => text.match(/\w+/g) ?? []));
/** Every suffix of every path, with and without the file extension. */
const ENDS = new Set(
  PLACES.flatMap((path) => [path, path.replace(/(\.test)?\.tsx?$/, '')]).flatMap((path) => {
    const parts = path.split('/');
    return parts.map((_, index) => parts.slice(index).join('/'));
  }),
);

/** `a/{b,c}` as `a/b` and `a/c`. */
function spelledOut(path: string): string[] {
  const [, before, choices, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(path) ?? [];
  if (before === undefined || choices === undefined) return [path];
  return choices.split(',').flatMap((choice) => spelledOut(`${before}${choice}${after}`));
}

/** Other paths, such as a host's own or a URL's, do not start with a folder of the project. */
function isOurs(path: string): boolean {
  return SOURCE.test(path) || ROOMS.has(path.split(/[/{]/, 1)[0] ?? '');
}

function missingIn(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '');
  const tokens = [...new Set([...prose.matchAll(/`([^`\n]+)`/g)].map(([, token = '']) => token))];
  return tokens.filter((token) => {
    if (IDENTIFIER.test(token)) return token.split('.').some((name) => !WORDS.has(name));
    if (!PATH.test(token) || PLACEHOLDER.test(token) || !isOurs(token)) return false;
    return spelledOut(token).some((path) => !ENDS.has(path.replace(/\/$/, '')));
  });
}

for (const document of DOCUMENTS) {
  test(`${document} names only files and identifiers that exist`, () => {
    assert.deepEqual(missingIn(readFileSync(join(ROOT, document), 'utf8')), []);
  });
}

test('the check finds a name that no longer exists', () => {
  // Split in two: the test searches this file as well.
  const gone = ['Never', 'Written'].join('');
  const text = `See \`hub/never-was.ts\`, \`agent/{pods,nowhere}\`, \`${gone}\`, \`hub/hub.ts\`, \`/etc/x\`, \`hosts/NAME/x\`.`;
  assert.deepEqual(missingIn(text), ['hub/never-was.ts', 'agent/{pods,nowhere}', gone]);
});
