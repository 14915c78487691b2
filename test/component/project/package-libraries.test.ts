/** The C and C++ libraries that packages and images of a release need or contain. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { leaveOut } from '../../harness/basics/skip-reason.js';

interface Libraries {
  neededSymbolVersions: (file: string) => string[];
  libraryMinimums: (symbolVersions: readonly string[]) => { glibc: string; gcc: string };
}
interface About {
  debDepends: string[];
  rpmRequires: string[];
}
type CoordinatorPackage = (
  options: object,
  program: Map<string, { from: string; mode: number }>,
) => { about: About };
const load = async <T>(name: string): Promise<T> => import(pathToFileURL(resolve('release', name)).href);

const ADDON = resolve('node_modules/better-sqlite3/build/Release/better_sqlite3.node');

test('the symbol versions of an addon are those that objdump lists', async (context) => {
  const { neededSymbolVersions } = await load<Libraries>('shared-libraries.mjs');
  const found = neededSymbolVersions(ADDON);
  assert.ok(found.some((each) => each.startsWith('GLIBC_')));
  let listed: string;
  try {
    listed = execFileSync('objdump', ['-p', ADDON], { encoding: 'utf8' });
  } catch {
    return leaveOut(context, 'the symbol versions of an addon', 'needs objdump');
  }
  const references = listed.slice(listed.indexOf('Version References:'));
  const versions = [...references.matchAll(/^ +0x[0-9a-f]+ 0x[0-9a-f]+ \d+ (\S+)$/gm)].map(
    ([, each]) => each,
  );
  assert.deepEqual(found, [...new Set(versions)].sort());
});

test('a package needs the newest library of its executables', async () => {
  const { libraryMinimums, neededSymbolVersions } = await load<Libraries>('shared-libraries.mjs');
  for (const [versions, glibc, gcc] of [
    [[], '2.28', '5'],
    [['GLIBC_2.2.5', 'GLIBC_2.34', 'GLIBC_2.4', 'GCC_3.0', 'GLIBC_PRIVATE'], '2.34', '5'],
    [['GLIBCXX_3.4', 'GLIBCXX_3.4.9', 'GLIBCXX_3.4.29'], '2.28', '11'],
    [['GLIBCXX_3.4.21', 'CXXABI_1.3', 'CXXABI_1.3.11'], '2.28', '7'],
  ] as const)
    assert.deepEqual(libraryMinimums(versions), { glibc, gcc }, versions.join());
  for (const unknown of ['GLIBCXX_3.4.99', 'GLIBCXX_3.5', 'CXXABI_1.4.1'])
    assert.throws(() => libraryMinimums([unknown]), /add its GCC to GCC_OF_SYMBOLS/, unknown);

  const { coordinatorPackage } = await load<{ coordinatorPackage: CoordinatorPackage }>(
    'package-contents.mjs',
  );
  const program = new Map([['/usr/lib/everynode/addon.node', { from: ADDON, mode: 0o644 }]]);
  const { about } = coordinatorPackage({ root: resolve('.'), manPages: () => [] }, program);
  const { glibc, gcc } = libraryMinimums(neededSymbolVersions(ADDON));
  assert.deepEqual(about.debDepends.slice(0, 2), [`libc6 (>= ${glibc})`, `libstdc++6 (>= ${gcc})`]);
  assert.deepEqual(about.rpmRequires.slice(0, 2), [`glibc >= ${glibc}`, `libstdc++ >= ${gcc}`]);
});
