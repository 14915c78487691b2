/** The bundle of the fleet's keys: what it contains, hostile bundles, and the changes that an import makes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changesTo,
  contentHash,
  FLEET_KEY_FILES,
  type FleetKeys,
  FleetKeysError,
  packFleetKeys,
  unpackFleetKeys,
} from '../../../coordinator/cluster/keys/fleet-keys.js';
import { openValue, SealError, sealValue } from '../../../coordinator/cluster/keys/sealed-value.js';

function filesOf(change: Record<string, string | undefined> = {}): Map<string, Buffer> {
  const all = { ...Object.fromEntries(FLEET_KEY_FILES.map((name) => [name, `of ${name}`])), ...change };
  return new Map(
    Object.entries(all).flatMap(([name, text]) => (text === undefined ? [] : [[name, Buffer.from(text)]])),
  );
}

const KEYS: FleetKeys = { version: 3, files: filesOf() };

test('a bundle is unpacked as it was packed', () => {
  assert.deepEqual(unpackFleetKeys(packFleetKeys(KEYS)), KEYS);
});

test('serving keys are not in the bundle', () => {
  assert.equal(FLEET_KEY_FILES.includes('pki/serving.pem'), false);
});

function bundle(change: Record<string, unknown>): Buffer {
  return Buffer.from(JSON.stringify({ ...JSON.parse(packFleetKeys(KEYS).toString()), ...change }));
}

function withFile(name: string, content: unknown): Buffer {
  const { files } = JSON.parse(packFleetKeys(KEYS).toString()) as { files: object };
  return bundle({ files: { ...files, [name]: content } });
}

const HOSTILE: [string, Buffer, RegExp][] = [
  ['a path outside', withFile('../../etc/passwd', ''), /must not be among the keys/],
  ['an absolute path', withFile('/etc/passwd', ''), /must not be among the keys/],
  ['the database', withFile('everynode.db', ''), /must not be among the keys/],
  ['a serving key', withFile('pki/serving.pem', ''), /must not be among the keys/],
  ['another spelling of a name', withFile('pki/./ca.key', ''), /must not be among the keys/],
  ['a name of an object', withFile('constructor', ''), /must not be among the keys/],
  ['a content that is no text', withFile('pki/ca.key', 7), /is not a text/],
  ['an empty authority key', withFile('pki/ca.key', ''), /pki\/ca.key is missing/],
  ['no files', bundle({ files: undefined }), /not a bundle/],
  ['a list of files', bundle({ files: [] }), /not a bundle/],
  ['version 0', bundle({ version: 0 }), /not a bundle/],
  ['a version that is no integer', bundle({ version: 1.5 }), /not a bundle/],
  ['a newer format', bundle({ format: 2 }), /newer version/],
  ['no JSON', Buffer.from('x'), /not a bundle/],
  ['too many bytes', Buffer.alloc(500_000, 0x20), /more than/],
];

for (const [what, bytes, message] of HOSTILE) {
  test(`a bundle with ${what} is refused`, () => {
    assert.throws(
      () => unpackFleetKeys(bytes),
      (error) => error instanceof FleetKeysError && message.test(error.message),
    );
  });
}

for (const name of [
  'pki/ca.key',
  'pki/secrets.key',
  'pki/object-mac.key',
  'pki/service-accounts.key',
  'pki/cluster.key',
]) {
  test(`keys without ${name} are not packed`, () => {
    assert.throws(() => packFleetKeys({ version: 1, files: filesOf({ [name]: undefined }) }), FleetKeysError);
  });
}

test('the hash follows every key, and not the kubeconfig, which has the address of its member', () => {
  const before = contentHash(filesOf());
  assert.equal(contentHash(filesOf({ kubeconfig: 'of another member' })), before);
  for (const name of FLEET_KEY_FILES.filter((each) => each !== 'kubeconfig')) {
    assert.notEqual(contentHash(filesOf({ [name]: 'changed' })), before, name);
    assert.notEqual(contentHash(filesOf({ [name]: undefined })), before, name);
  }
});

const CHANGES: [string, Map<string, Buffer>, Map<string, Buffer>, string[]][] = [
  ['equal keys change nothing', filesOf(), filesOf(), []],
  ['a changed key is written', filesOf({ 'pki/ca.key': 'new' }), filesOf(), ['write pki/ca.key']],
  [
    'a key that the leader removed is removed',
    filesOf({ 'pki/ca-next.pem': undefined }),
    filesOf(),
    ['remove pki/ca-next.pem'],
  ],
  [
    'an empty file is not an absent one',
    filesOf({ 'pki/ca-old.crt': '' }),
    filesOf({ 'pki/ca-old.crt': undefined }),
    ['write pki/ca-old.crt'],
  ],
  [
    'a kubeconfig with an old authority is replaced',
    filesOf({ kubeconfig: 'with the next authority' }),
    filesOf(),
    ['write kubeconfig'],
  ],
  ['a missing kubeconfig is written', filesOf(), filesOf({ kubeconfig: undefined }), ['write kubeconfig']],
  [
    "a kubeconfig with an old administrator's token is replaced",
    filesOf({ 'pki/admin-token.sha256': 'new', kubeconfig: 'new' }),
    filesOf(),
    ['write pki/admin-token.sha256', 'write kubeconfig'],
  ],
  ['a kubeconfig is never removed', filesOf({ kubeconfig: undefined }), filesOf(), []],
];

for (const [what, wanted, present, expected] of CHANGES) {
  test(what, () => {
    const changes = changesTo(wanted, present).map(
      ([name, content]) => `${content ? 'write' : 'remove'} ${name}`,
    );
    assert.deepEqual(changes, expected);
  });
}

test('a sealed value opens only with its key and name, and unchanged', () => {
  const key = Buffer.alloc(32, 1);
  const sealed = sealValue(key, 'fleet/keys', Buffer.from('secret'));
  assert.equal(openValue(key, 'fleet/keys', sealed).toString(), 'secret');
  assert.equal(sealed.includes('secret'), false);
  const changed = Buffer.from(sealed);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  const attempts: [Buffer, string, Buffer][] = [
    [Buffer.alloc(32, 2), 'fleet/keys', sealed],
    [key, 'other/keys', sealed],
    [key, 'fleet/keys', changed],
    [key, 'fleet/keys', sealed.subarray(0, 20)],
    [key, 'fleet/keys', Buffer.concat([Buffer.of(2), sealed.subarray(1)])],
    [key, 'fleet/keys', Buffer.alloc(0)],
  ];
  for (const [with_, name, bytes] of attempts) assert.throws(() => openValue(with_, name, bytes), SealError);
});
