/**
 * The documents name only files, folders and identifiers that exist. A document that names a removed one misleads its readers.
 * Links and anchors lead somewhere, and the README stays short enough to be read.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
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

/** Kubernetes' subresources, which start like one of the project's folders. */
const SUBRESOURCE =
  /^(?:pods\/(?:attach|exec|log|portforward)|nodes\/(?:configz|healthz|metrics|pods|proxy|stats))$/;

/** Other paths, such as a host's own or a URL's, do not start with a folder of the project. */
function isOurs(path: string): boolean {
  if (SUBRESOURCE.test(path)) return false;
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

/** The generated pages contain links too. */
const PAGES = [...DOCUMENTS, ...placesBelow('docs/reference').filter((path) => path.endsWith('.md'))];
/** `[text](target)`. Other sites and parts of a code block are left out. */
const LINK = /\]\((?!https?:)([^)\s]+)\)/g;

function proseOf(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
}

/** The anchors of a page as Git hosts derive them from its headings. */
function anchorsOf(text: string): Set<string> {
  const bare = text.replace(/^```[\s\S]*?^```/gm, '');
  const anchors = [...bare.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}

function brokenLinksOf(page: string, text: string): string[] {
  return [...proseOf(text).matchAll(LINK)].flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
    if (!existsSync(target)) return [link];
    if (anchor === undefined) return [];
    return anchorsOf(path === '' ? text : readFileSync(target, 'utf8')).has(anchor) ? [] : [link];
  });
}

for (const page of PAGES) {
  test(`the links of ${page} lead to files and headings that exist`, () => {
    assert.deepEqual(brokenLinksOf(page, readFileSync(join(ROOT, page), 'utf8')), []);
  });
}

test('the check reports links to missing files and missing headings', () => {
  const text = '# Two words\n[a](docs/never.md) [b](docs/index.md#never) [c](#two-words) [d](docs/index.md)';
  assert.deepEqual(brokenLinksOf('README.md', text), ['docs/never.md', 'docs/index.md#never']);
});

test('the README has at most 180 lines of 120 characters, and at most 1,500 words', () => {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const lines = text.split('\n');
  assert.ok(lines.length <= 181, `${lines.length} lines`);
  assert.deepEqual(
    lines.filter((line) => line.length > 120),
    [],
  );
  const words = text.split(/\s+/).filter((word) => word !== '').length;
  assert.ok(words <= 1_500, `${words} words`);
});
