/** The parts of `npm run release` on small inputs: equal bytes in two builds, formats, and the files of the CI. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

type Layout = Map<string, { mode: number; text?: string; link?: string; folder?: boolean }>;
const load = async <T>(name: string): Promise<T> => import(pathToFileURL(resolve('release', name)).href);

const EPOCH = 1_700_000_000;
const LAYOUT: Layout = new Map([
  ['/etc/example', { folder: true, mode: 0o755 }],
  ['/etc/example/settings.yaml', { text: 'a: 1\n', mode: 0o640 }],
  ['/usr/bin/example', { text: '#!/bin/sh\n', mode: 0o755 }],
  ['/usr/share/doc/example/html/index', { text: 'x', mode: 0o644 }],
  ['/usr/bin/other', { link: 'example', mode: 0o777 }],
]);
const ABOUT = {
  name: 'example',
  summary: 'an example',
  description: ['One line.'],
  folders: ['/usr/share/doc/example'],
  debDepends: ['libc6'],
  debRecommends: [],
  rpmRequires: ['glibc'],
  debScripts: { postinst: '#!/bin/sh\n' },
  rpmScripts: { post: 'true\n' },
};

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

for (const [format, tool] of [
  ['deb', 'dpkg-deb'],
  ['rpm', 'rpmbuild'],
] as const) {
  test(`a .${format} has the same bytes in two builds, and a pre-release sorts before its release`, async (context) => {
    if (!existsSync(`/usr/bin/${tool}`)) return leaveOut(context, `.${format} packages`, `needs ${tool}`);
    type Write = (options: object) => void;
    const { writeDeb, writeRpm } = await load<{ writeDeb: Write; writeRpm: Write }>('linux-packages.mjs');
    const write = format === 'deb' ? writeDeb : writeRpm;
    const built = ['one', 'two'].map((name) => {
      const work = join(temporaryDirectory(), name);
      mkdirSync(work);
      const target = join(work, `example.${format}`);
      const rest = { version: '1.2.3-rc.1', architecture: 'arm64', work, target, epoch: EPOCH, fast: true };
      write({ about: ABOUT, layout: LAYOUT, ...rest });
      return target;
    });
    const [one = '', two = ''] = built;
    assert.equal(sha256(readFileSync(one)), sha256(readFileSync(two)));
    const show = (...args: string[]) => execFileSync(args[0] ?? '', args.slice(1), { encoding: 'utf8' });
    if (format === 'deb') {
      assert.equal(show('dpkg-deb', '--field', one, 'Version').trim(), '1.2.3~rc.1');
      assert.match(
        show('dpkg-deb', '--contents', one),
        /-rw-r----- root\/root +5 .* \.\/etc\/example\/settings\.yaml/,
      );
    } else {
      assert.equal(show('rpm', '-qp', '--qf', '%{version} %{arch}', one), '1.2.3~rc.1 aarch64');
      const folders =
        '/usr/share/doc/example\n/usr/share/doc/example/html\n/usr/share/doc/example/html/index';
      assert.ok(show('rpm', '-qlp', one).includes(folders), 'an erase would leave its folders');
    }
  });
}

test('an image archive names each blob by its hash, also for Docker before 25, and has the same bytes twice', async () => {
  type Write = (options: object) => Promise<void>;
  const { writeImage } = await load<{ writeImage: Write }>('oci-image.mjs');
  const folder = temporaryDirectory();
  const archives = await Promise.all(
    ['one.tar', 'two.tar'].map(async (name) => {
      const target = join(folder, name);
      const config = { User: '65532', Entrypoint: ['/usr/bin/example'] };
      const image = { name: 'example.org/example:1.2.3', architecture: 'amd64', layers: [LAYOUT], config };
      await writeImage({ ...image, target, epoch: EPOCH, fast: true });
      return target;
    }),
  );
  const [one = '', two = ''] = archives;
  assert.equal(sha256(readFileSync(one)), sha256(readFileSync(two)));
  execFileSync('tar', ['-xf', one, '-C', folder]);
  const blobs = join(folder, 'blobs/sha256');
  for (const name of readdirSync(blobs)) assert.equal(sha256(readFileSync(join(blobs, name))), name);
  const json = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
  const [{ Config, Layers, RepoTags }] = json('manifest.json');
  assert.deepEqual(RepoTags, ['example.org/example:1.2.3']);
  const manifest = json(`blobs/${json('index.json').manifests[0].digest.replace(':', '/')}`);
  const pathOf = ({ digest }: { digest: string }) => `blobs/${digest.replace(':', '/')}`;
  assert.equal(pathOf(manifest.config), Config);
  assert.deepEqual(manifest.layers.map(pathOf), Layers);
  const layer = execFileSync('gzip', ['-dc', join(folder, Layers[0])]);
  assert.deepEqual(json(Config).rootfs.diff_ids, [`sha256:${sha256(layer)}`]);
});

test('the coordinator packages contain what runs, and nothing that only installs', async () => {
  type Lock = Record<string, { dependencies?: Record<string, string> }>;
  const { runtimePackages } = await load<{ runtimePackages: (lock: Lock) => string[] }>(
    'coordinator-layout.mjs',
  );
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages as Lock;
  const found = runtimePackages(lock);
  for (const name of Object.keys(lock['']?.dependencies ?? {}))
    assert.ok(found.includes(`node_modules/${name}`), name);
  for (const name of ['prebuild-install', 'typescript', 'esbuild'])
    assert.ok(!found.includes(`node_modules/${name}`), name);
  assert.deepEqual(
    runtimePackages({
      '': { dependencies: { a: '1' } },
      'node_modules/a': { dependencies: { b: '2' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': {},
      'node_modules/c': {},
    }),
    ['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/c'],
  );
});

test('a part of a release comes with the parts that it contains, and with no others', async () => {
  type Kinds = Set<string>;
  const { wantedKinds, programsOf } = await load<{
    wantedKinds: (only: string) => Kinds;
    programsOf: (kinds: Kinds) => { agent: boolean; coordinator: boolean };
  }>('release-kinds.mjs');
  for (const [only, kinds, agent, coordinator] of [
    ['offline', 'agents,offline,packages', true, true],
    ['agents', 'agents', true, false],
    ['packages', 'packages', true, true],
    ['images,npm', 'images,npm', true, true],
    ['npm', 'npm', false, false],
  ] as const) {
    const wanted = wantedKinds(only);
    assert.equal([...wanted].sort().join(), kinds);
    assert.deepEqual(programsOf(wanted), { agent, coordinator }, only);
  }
  assert.throws(() => wantedKinds('npm,debs'), /^Error: --only debs is not one of agents, npm, packages/);
});

test('the files for Compose and Kubernetes run the coordinator without root and without capabilities', async () => {
  const compose = readFileSync('release/packaging/compose.yaml', 'utf8').replaceAll('@VERSION@', '1.2.3');
  const { services } = parse(compose);
  assert.equal(services.coordinator.image, 'everynode.dev/coordinator:1.2.3');
  assert.deepEqual(services.coordinator.cap_drop, ['ALL']);
  type Manifest = (root: string, version: string) => string;
  const { kubernetesManifest } = await load<{ kubernetesManifest: Manifest }>('helm-chart.mjs');
  const objects = parseAllDocuments(kubernetesManifest('.', '1.2.3')).map((each) => each.toJS());
  assert.deepEqual(
    objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`),
    ['Namespace everynode', 'Service everynode-coordinator', 'StatefulSet everynode-coordinator'],
  );
  const set = objects.find(({ kind }) => kind === 'StatefulSet');
  assert.equal(set.spec.replicas, 1);
  const { hostAliases, securityContext } = set.spec.template.spec;
  assert.equal(securityContext.runAsNonRoot, true);
  assert.deepEqual(
    securityContext.sysctls,
    [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    'the coordinator can listen on port 443 without a capability',
  );
  assert.deepEqual(hostAliases, [{ ip: '127.0.0.1', hostnames: ['coordinator.example.com'] }]);
  const [container] = set.spec.template.spec.containers;
  assert.deepEqual(container.securityContext.capabilities.drop, ['ALL']);
  assert.equal(container.image, 'everynode.dev/coordinator:1.2.3');
});

test('the CI uses no action of others, and only images with a digest', () => {
  for (const path of ['.gitlab-ci.yml', '.github/workflows/tests.yml', '.github/workflows/release.yml']) {
    const text = readFileSync(path, 'utf8');
    parse(text);
    assert.doesNotMatch(text, /^\s*-? *uses:/m, path);
    const images = [...text.matchAll(/^\s*image: (\S+)/gm)].map(([, image = '']) => image);
    assert.ok(images.length > 0, path);
    for (const image of images) assert.match(image, /@sha256:[0-9a-f]{64}$/, path);
  }
});

test('a release needs a dated section of the changelog with text, and a tag of the same version', async () => {
  type Section = (changelog: string, tag: string, version: string) => string;
  const { changelogSection } = await load<{ changelogSection: Section }>('changelog-section.mjs');
  const changelog =
    '# Changelog\n\n## 1.2.0 — 2026-11-27\n\n### Added\n\n- Waves.\n\n## 1.1.0 — 2026-01-02\n\n### Added\n';
  assert.equal(changelogSection(changelog, 'v1.2.0', '1.2.0'), '### Added\n\n- Waves.\n');
  for (const [tag, version, error] of [
    ['v1.2.1', '1.2.0', /the tag v1\.2\.1 does not match package\.json: tag v1\.2\.0/],
    ['1.2.0', '1.2.0', /does not match/],
    ['v1.3.0', '1.3.0', /no section "## 1\.3\.0 — DATE"/],
    ['v1.1.0', '1.1.0', /says nothing about 1\.1\.0/],
  ] as const)
    assert.throws(() => changelogSection(changelog, tag, version), error);
  assert.throws(() => changelogSection('## 1.2.0 — unreleased\n- x\n', 'v1.2.0', '1.2.0'), /needs a date/);
});

test('a changed file of the offline bundle is refused before anything is installed', (context) => {
  const folder = temporaryDirectory();
  const script = readFileSync('release/packaging/install-offline.sh', 'utf8');
  writeFileSync(join(folder, 'install'), script, { mode: 0o755 });
  writeFileSync(join(folder, 'README.md'), 'changed');
  writeFileSync(join(folder, 'SHA256SUMS'), `${sha256(Buffer.from('original'))}  README.md\n`);
  if (process.getuid?.() !== 0) return leaveOut(context, 'the offline installer', 'needs root');
  assert.throws(
    () => execFileSync(join(folder, 'install'), { stdio: 'pipe' }),
    (error: { stderr: Buffer }) =>
      /the archive is damaged; nothing was changed/.test(error.stderr.toString()),
  );
});
