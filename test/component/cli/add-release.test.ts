/** `everynode release`: a release is added after complete verification, or the data directory is unchanged. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { LEFTOVER_AFTER_MS, openStaging } from '../../../coordinator/api/releases/release-staging.js';
import { readTrust, updateTrust } from '../../../coordinator/api/releases/release-trust.js';
import { ReleaseError } from '../../../coordinator/api/releases/signed-sums.js';
import { VerifiedReleases } from '../../../coordinator/api/releases/verified-releases.js';
import { addRelease } from '../../../coordinator/cli/releases/add-release.js';
import { releasePaths } from '../../../coordinator/coordinator-data-dir.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  agentArchive,
  makeRelease,
  newReleaseKey,
  signList,
  signRelease,
} from '../../harness/hosts/test-release.js';
import { runEverynode } from '../../harness/processes/everynode-processes.js';

const VERSION = '1.2.3';
const ARCHIVE = agentArchive(VERSION);

/** A release and a path for a data directory. `outside` is a path that `../` could reach. */
function fixture(version = VERSION) {
  const outside = temporaryDirectory();
  const data = join(outside, 'coordinator', 'data');
  const key = newReleaseKey();
  const folder = makeRelease(join(outside, 'release'), version, key);
  return { outside, data, key, folder, places: releasePaths(data) };
}

/** Returns every path below a folder. */
const treeOf = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort() : [];

const add = (folder: string, data: string) => runEverynode(['release', 'add', folder, '--data', data]);

test('a signed release is stored with the files that hosts fetch, private to its owner, and its key is printed', async () => {
  const { folder, data, places } = fixture();
  const { code, stdout, stderr } = await add(folder, data);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /accepts only releases signed by the key SHA256:[A-Za-z0-9+/]{43}\.\nRelease 1\.2\.3 added/,
  );
  const target = join(places.directory, VERSION);
  assert.deepEqual(treeOf(target), ['SHA256SUMS', 'SHA256SUMS.sig', ARCHIVE].sort());
  assert.deepEqual(readFileSync(join(target, ARCHIVE)), readFileSync(join(folder, ARCHIVE)));
  assert.equal(statSync(places.trustFile).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(places.directory), [VERSION]);
});

test('the same release, and the next one of the same key, can be added again', async () => {
  const { folder, data, key, places, outside } = fixture();
  for (const source of [folder, folder, makeRelease(join(outside, 'next'), '1.3.0', key)]) {
    assert.equal((await add(source, data)).code, 0);
  }
  assert.deepEqual(readdirSync(places.directory), [VERSION, '1.3.0']);
});

type Bench = ReturnType<typeof fixture>;
const REFUSED: [string, (given: Bench) => void, RegExp][] = [
  [
    'without a signature',
    ({ folder }) => rmSync(join(folder, 'SHA256SUMS.sig')),
    /not signed.*SHA256SUMS\.sig/,
  ],
  ['without a list', ({ folder }) => rmSync(join(folder, 'SHA256SUMS')), /has no SHA256SUMS/],
  [
    'with the signature of another list',
    ({ folder }) => writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  ${ARCHIVE}\n`),
    /not the signature of SHA256SUMS/,
  ],
  [
    'with a file that was changed after the signature',
    ({ folder }) => writeFileSync(join(folder, ARCHIVE), 'another program'),
    new RegExp(`${ARCHIVE.replaceAll('.', '\\.')} does not have the hash`),
  ],
  [
    'with a changed file that hosts do not fetch',
    ({ folder }) => writeFileSync(join(folder, `everynode-${VERSION}.tgz`), 'another package'),
    /everynode-1\.2\.3\.tgz does not have the hash/,
  ],
  ['with a truncated file', ({ folder }) => truncateSync(join(folder, ARCHIVE), 3), /does not have the hash/],
  ['with a missing file', ({ folder }) => rmSync(join(folder, ARCHIVE)), /gz of SHA256SUMS is missing/],
  [
    'with an extra file',
    ({ folder }) => writeFileSync(join(folder, 'x.gz'), ''),
    /x\.gz is not in SHA256SUMS/,
  ],
  [
    'with a link in place of a file',
    ({ folder, outside }) => {
      writeFileSync(join(outside, 'copy'), readFileSync(join(folder, ARCHIVE)));
      rmSync(join(folder, ARCHIVE));
      symlinkSync(join(outside, 'copy'), join(folder, ARCHIVE));
    },
    /gz is a symbolic link/,
  ],
  ['with a folder in it', ({ folder }) => mkdirSync(join(folder, 'x')), /x is not a regular file/],
  [
    'with two lines for one file',
    ({ folder, key }) => {
      const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
      signList(folder, `${sums}${sums.split('\n')[0]}\n`, key);
    },
    /lists everynode-\S+ twice/,
  ],
  [
    'with agents of two versions',
    ({ folder, key }) => {
      writeFileSync(join(folder, agentArchive('9.9.9')), '');
      signRelease(folder, key);
    },
    /several versions/,
  ],
  [
    'with a key that is no Ed25519 key',
    ({ folder }) => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      writeFileSync(join(folder, 'release.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    },
    /type rsa/,
  ],
];
for (const version of ['../../../escaped', '1.2.3-../../../escaped', '1.2', '..']) {
  REFUSED.push([
    `of version ${version}`,
    ({ folder, key }) => {
      signList(folder, `${'0'.repeat(64)}  everynode-agent-${version}-linux-amd64.gz\n`, key);
    },
    /has a line that is not|not of the form 1\.2\.3/,
  ]);
}

for (const [what, spoil, why] of REFUSED) {
  test(`a release ${what} is rejected and nothing is written`, async () => {
    const given = fixture();
    spoil(given);
    const before = treeOf(given.outside);
    const isRefusal = (error: unknown) => error instanceof ReleaseError && why.test(error.message);
    await assert.rejects(addRelease(given.folder, given.data), isRefusal);
    const created = treeOf(given.outside).filter((path) => !before.includes(path));
    assert.deepEqual(created, []);
  });
}

test('a rejection is one sentence that names the folder, the file and a remedy', async () => {
  const { folder, data } = fixture();
  rmSync(join(folder, 'SHA256SUMS.sig'));
  const { code, stderr } = await add(folder, data);
  assert.equal(code, 5);
  assert.equal(
    stderr,
    `${folder} is refused: it is not signed: it has no SHA256SUMS.sig. Nothing was changed.\n`,
  );
  assert.equal(existsSync(data), false);
});

test('a release of another key is rejected until that key is trusted; then the first key is rejected', async () => {
  const { folder, data, outside, places } = fixture();
  await add(folder, data);
  const next = makeRelease(join(outside, 'next'), '1.3.0', newReleaseKey());
  const before = treeOf(data);
  const refused = await add(next, data);
  assert.equal(refused.code, 5);
  assert.match(
    refused.stderr,
    /signed by the key SHA256:\S+, and this coordinator trusts SHA256:.*release trust/,
  );
  assert.deepEqual(treeOf(data), before);
  const releases = new VerifiedReleases(places);
  assert.equal(await releases.has(VERSION), true);

  const trusted = await runEverynode(['release', 'trust', join(next, 'release.pub'), '--data', data]);
  assert.deepEqual([trusted.code, trusted.stderr], [0, '']);
  assert.equal((await add(next, data)).code, 0);
  assert.deepEqual([await releases.has('1.3.0'), await releases.has(VERSION)], [true, false]);
  assert.equal((await add(folder, data)).code, 5);
});

test('a file without a public Ed25519 key is not trusted', async () => {
  const { data, outside, key } = fixture();
  const file = join(outside, 'key.pem');
  for (const text of ['', 'rubbish', key.privateKey.export({ type: 'pkcs8', format: 'pem' })]) {
    writeFileSync(file, text);
    const { code, stderr } = await runEverynode(['release', 'trust', file, '--data', data]);
    assert.deepEqual([code, existsSync(data)], [5, false], stderr);
  }
});

test('a version below the minimum is neither added nor served', async () => {
  const { folder, data, places } = fixture();
  await add(folder, data);
  const floor = (...args: string[]) => runEverynode(['release', 'floor', ...args, '--data', data]);
  assert.equal((await floor('1.2')).code, 2);
  assert.equal((await floor('1.2.4')).code, 0);
  assert.equal((await floor()).stdout, '1.2.4\n');
  const { code, stderr } = await add(folder, data);
  assert.equal(code, 5);
  assert.match(stderr, /1\.2\.3 is older than 1\.2\.4, the oldest version/);
  await assert.rejects(new VerifiedReleases(places).release(VERSION), { reason: 'Forbidden' });
  assert.equal((await floor('0.0.0')).code, 0);
  assert.equal(await new VerifiedReleases(places).has(VERSION), true);
});

test('an interrupted addition leaves nothing, and remains of a killed one are removed by the next', async () => {
  const { folder, data, places } = fixture();
  mkdirSync(data, { recursive: true });
  await assert.rejects(addRelease(folder, data, AbortSignal.abort()), { name: 'AbortError' });
  assert.deepEqual(treeOf(data), []);
  mkdirSync(join(places.directory, '.adding-99999999'), { recursive: true });
  utimesSync(join(places.directory, '.adding-99999999'), 1, 1);
  mkdirSync(join(places.directory, '.replaced-99999999-1.0.0'));
  assert.equal((await add(folder, data)).code, 0);
  assert.deepEqual(readdirSync(places.directory), ['1.0.0', VERSION]);
});

test('a staging folder is kept until nothing in it has changed for two hours', async () => {
  const { directory } = fixture().places;
  const now = Date.now();
  const open = () => openStaging(directory, now);
  const [idle, copying] = [await open(), await open()];
  for (const [folder, seconds] of [
    [idle, now / 1_000 - 7_300],
    [copying, now / 1_000 - 7_100],
  ] as const) {
    writeFileSync(join(folder, ARCHIVE), '');
    utimesSync(join(folder, ARCHIVE), seconds, seconds);
    utimesSync(folder, 1, 1);
  }
  const next = await open();
  assert.deepEqual(
    treeOf(directory).filter((name) => !name.includes('/')),
    [copying, next].map((path) => basename(path)).sort(),
  );
  assert.equal(LEFTOVER_AFTER_MS, 7_200_000);
});

test('changes of the trust at the same time leave one of them, and no other file', async () => {
  const { trustFile } = fixture().places;
  const floors = Array.from({ length: 20 }, (_, minor) => `1.${minor}.0`);
  await Promise.all(floors.map((floor) => updateTrust(trustFile, () => ({ floor }))));
  assert.ok(floors.includes((await readTrust(trustFile)).floor ?? ''));
  assert.deepEqual(readdirSync(dirname(trustFile)), [basename(trustFile)]);
});

test('a replaced release that cannot be deleted is a warning, and the new one is added', async () => {
  const { folder, data, places } = fixture();
  assert.equal((await add(folder, data)).code, 0);
  const former = join(places.directory, VERSION);
  // Its files cannot be deleted, but its name can be changed.
  if (process.getuid?.() !== 0) chmodSync(former, 0o500);
  else {
    chmodSync(join(data, '..', '..'), 0o755);
    chmodSync(join(data, '..'), 0o755);
    for (const path of [data, places.directory, dirname(places.trustFile), places.trustFile])
      chownSync(path, 65_534, 65_534);
  }
  const { code, stdout, stderr } = await add(folder, data);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Warning: files of the replaced release could not be deleted: .*EACCES/);
  assert.match(stdout, /Release 1\.2\.3 added/);
  assert.equal(await new VerifiedReleases(places).has(VERSION), true);
  for (const name of readdirSync(places.directory)) chmodSync(join(places.directory, name), 0o700);
});

test('in a data directory of another user, everything that root adds belongs to that user', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async () => {
  const { folder, data, places, outside } = fixture();
  mkdirSync(data, { recursive: true });
  chmodSync(outside, 0o755);
  chownSync(data, 65_534, 65_534);
  assert.equal((await add(folder, data)).code, 0);
  const written = [
    places.trustFile,
    join(places.directory, VERSION),
    join(places.directory, VERSION, ARCHIVE),
  ];
  for (const path of written) assert.equal(statSync(path).uid, 65_534, path);

  // The directory's owner can create a link where root writes next.
  rmSync(places.directory, { recursive: true });
  mkdirSync(join(outside, 'of-root'), { mode: 0o755 });
  symlinkSync(join(outside, 'of-root'), places.directory);
  assert.equal((await add(folder, data)).code, 3);
  assert.deepEqual(readdirSync(join(outside, 'of-root')), []);
});
