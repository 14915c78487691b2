/** ConfigMaps and Secrets on a host's disk: present after a reboot, and no Secret as plain text. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AtRestCipher } from '../../../agent/desired/at-rest-cipher.js';
import { ConfigCache } from '../../../agent/desired/config-object-cache.js';
import type { ConfigReference } from '../../../shared/kube/pods/config-reference.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';

const SECRET_TEXT = 'correct horse battery staple';
const ENCODED = Buffer.from(SECRET_TEXT).toString('base64');

let directory: string;
withDirectoryEach((path) => {
  directory = path;
});

const reference = (name: string, kind: ConfigReference['kind'] = 'Secret'): ConfigReference => ({
  kind,
  namespace: 'ns',
  name,
});

function object(
  name: string,
  {
    uid = `uid-${name}`,
    kind = 'Secret',
    digest = 'd1',
    annotations = {},
  }: {
    uid?: string;
    kind?: ConfigReference['kind'];
    digest?: string;
    annotations?: Record<string, string>;
  } = {},
): DesiredObject {
  const whole = {
    apiVersion: 'v1',
    kind,
    metadata: { uid, namespace: 'ns', name, annotations },
    data: { key: kind === 'Secret' ? ENCODED : 'text' },
  };
  return { uid, digest, kind, object: Buffer.from(JSON.stringify(whole)) };
}

const open = (key = Buffer.alloc(32, 'k')) =>
  ConfigCache.open({ directory: join(directory, 'config'), cipher: new AtRestCipher(key) }, silentLogger);
const give = (cache: ConfigCache, set: DesiredObject[], unassigned: string[] = []) =>
  cache.apply({ set, unassigned });
const files = () => readdirSync(join(directory, 'config'));
const bytes = () =>
  files()
    .map((name) => readFileSync(join(directory, 'config', name), 'latin1'))
    .join('\n');

describe('config cache', () => {
  test('stored objects are present after a restart, with Secrets encrypted on disk', async () => {
    await give(await open(), [object('s'), object('c', { kind: 'ConfigMap' })]).durable;
    const cache = await open();
    assert.deepEqual(cache.have().sort(), [
      ['uid-c', 'd1'],
      ['uid-s', 'd1'],
    ]);
    assert.equal(cache.find(reference('s'))?.data?.key, ENCODED);
    assert.equal(cache.find(reference('c', 'ConfigMap'))?.data?.key, 'text');
    for (const plain of [SECRET_TEXT, ENCODED]) assert.ok(!bytes().includes(plain), `${plain} lies on disk`);
    assert.ok(
      bytes().includes('"text"'),
      'the ConfigMap is readable: the check above looked at the right files',
    );
    for (const name of files()) assert.equal(statSync(join(directory, 'config', name)).mode & 0o777, 0o600);
  });

  test('a Secret that must not be stored is kept in memory only, also when it was stored before', async () => {
    await give(await open(), [object('s')]).durable;
    const cache = await open();
    await give(cache, [object('s', { digest: 'd2', annotations: { 'everynode.dev/offline': 'false' } })])
      .durable;
    assert.equal(cache.find(reference('s'))?.data?.key, ENCODED);
    assert.deepEqual(files(), []);
    assert.deepEqual((await open()).have(), []);
  });

  test('a removed object is deleted from disk; a recreated one of the same name is kept', async () => {
    const cache = await open();
    await give(cache, [object('s')]).durable;
    const { changed, durable } = give(cache, [object('s', { uid: 'uid-2' })], ['uid-s']);
    await durable;
    assert.deepEqual(changed, [reference('s'), reference('s')]);
    assert.ok(cache.find(reference('s')));
    assert.deepEqual(cache.have(), [['uid-2', 'd1']]);
    await give(cache, [], ['uid-2']).durable;
    assert.equal(cache.find(reference('s')), undefined);
    assert.deepEqual(files(), []);
  });

  test('another key decrypts nothing and deletes nothing', async () => {
    await give(await open(), [object('s')]).durable;
    assert.deepEqual((await open(Buffer.alloc(32, 'x'))).have(), []);
    assert.deepEqual((await open()).have(), [['uid-s', 'd1']]);
  });

  test("a file that was renamed to another object's name is rejected", async () => {
    await give(await open(), [object('s')]).durable;
    const [name = ''] = files();
    writeFileSync(
      join(directory, 'config', 'uid-other.object'),
      readFileSync(join(directory, 'config', name)),
    );
    assert.deepEqual((await open()).have(), [['uid-s', 'd1']]);
  });

  for (const [damage, spoil] of [
    ['a torn end', (content: Buffer) => content.subarray(0, -3)],
    ['nothing in it', () => Buffer.alloc(0)],
    ['a flipped byte', (content: Buffer) => Buffer.from(content.toString('latin1').replace('text', 'tExt'))],
  ] as const) {
    test(`a file with ${damage} is removed and the others are kept`, async () => {
      await give(await open(), [object('c', { kind: 'ConfigMap' }), object('s')]).durable;
      const path = join(directory, 'config', 'uid-c.object');
      writeFileSync(path, spoil(readFileSync(path)));
      assert.deepEqual((await open()).have(), [['uid-s', 'd1']]);
      assert.deepEqual(files(), ['uid-s.object']);
    });
  }

  test('an object that could not be written is not reported as stored until it is written', async () => {
    const cache = await open();
    const folder = join(directory, 'config');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'in the way');
    await assert.rejects(give(cache, [object('s')]).durable);
    assert.ok(cache.find(reference('s')));
    assert.deepEqual(cache.have(), []);
    rmSync(folder);
    mkdirSync(folder);
    await give(cache, [object('s')]).durable;
    assert.deepEqual(cache.have(), [['uid-s', 'd1']]);
    assert.deepEqual((await open()).have(), [['uid-s', 'd1']]);
  });

  test('an unreadable object is skipped and the others are read', async () => {
    const cache = await open();
    const broken: DesiredObject = { uid: 'x', digest: 'd', kind: 'Secret', object: Buffer.from('{') };
    await give(cache, [broken, object('s')]).durable;
    assert.deepEqual(cache.have(), [['uid-s', 'd1']]);
  });
});
