/** Secrets in the database: encrypted at rest, with keys that may change, and migrated from plain rows. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { unpackBackup } from '../../../coordinator/store/backup/backup-archive.js';
import { writeBackup } from '../../../coordinator/store/backup/write-backup.js';
import {
  addEncryptionKey,
  loadEncryptionKeys,
} from '../../../coordinator/store/encryption/encryption-keys.js';
import { ValueEncryption } from '../../../coordinator/store/encryption/value-encryption.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import type { Store } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { storeLaws } from '../../laws/store-laws.js';

const SECRETS = '/registry/core/secrets/';
const KEY = `${SECRETS}default/db`;
const PLAIN = 'c2VjcmV0LXdvcmQ=';

const scratch = mkdtempSync(join(tmpdir(), 'everynode-sealed-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

function open(dataDir: string, seal?: ValueEncryption, maxChanges = 1_000): Promise<Store> {
  const limits = { maxChanges };
  return openSqliteStore({
    dataDir,
    clock: systemClock,
    log: silentLogger,
    limits,
    ...(seal && { encryption: seal }),
  });
}

async function sealOf(dataDir: string, prefixes = [SECRETS]): Promise<ValueEncryption> {
  return new ValueEncryption(prefixes, await loadEncryptionKeys(join(dataDir, 'secrets.key')));
}

function value(text: string): Buffer {
  return Buffer.from(JSON.stringify({ data: { word: text } }));
}

/** Returns true if the text is in any file of the directory. */
function liesIn(dataDir: string, text: string): boolean {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof StoreError && pattern.test(error.message);

storeLaws('sqlite store, everything encrypted', async (limits) => {
  const dataDir = mkdtempSync(join(scratch, 'store-'));
  return open(dataDir, await sealOf(dataDir, ['/']), limits?.maxChanges);
});

describe('encrypted Secrets', () => {
  test('are in no file as plain text, unlike other objects, and both are read back', async () => {
    const dataDir = temporaryDirectory();
    const store = await open(dataDir, await sealOf(dataDir));
    await store.create(KEY, value(PLAIN));
    await store.update(KEY, value('c2Vjb25k'));
    await store.create('/registry/core/configmaps/default/c', value('aW4gcGxhaW4='));
    assert.deepEqual((await store.get(KEY))?.value, value('c2Vjb25k'));
    await store.close();
    assert.deepEqual([liesIn(dataDir, PLAIN), liesIn(dataDir, 'c2Vjb25k')], [false, false]);
    assert.ok(liesIn(dataDir, 'aW4gcGxhaW4='));
    const again = await open(dataDir, await sealOf(dataDir));
    assert.deepEqual((await again.get(KEY))?.value, value('c2Vjb25k'));
    const watch = again.watch(SECRETS, { after: 0 });
    for await (const { changes } of watch) {
      assert.deepEqual(
        changes.map((change) => change.value),
        [value(PLAIN), value('c2Vjb25k')],
      );
      break;
    }
    await again.close();
  });

  test('include those of an older database after the next start, deleted ones too', async () => {
    const dataDir = temporaryDirectory();
    const before = await open(dataDir);
    await before.create(KEY, value(PLAIN));
    await before.update(KEY, value(`${PLAIN}2`));
    await before.create(`${KEY}-gone`, value(`${PLAIN}3`));
    await before.delete(`${KEY}-gone`);
    await before.close();
    assert.ok(liesIn(dataDir, PLAIN));
    const store = await open(dataDir, await sealOf(dataDir));
    assert.ok(!liesIn(dataDir, PLAIN));
    assert.deepEqual((await store.get(KEY))?.value, value(`${PLAIN}2`));
    await store.close();
  });

  test('are encrypted with a new key at the next start; the old key is not needed any longer', async () => {
    const dataDir = temporaryDirectory();
    const path = join(dataDir, 'secrets.key');
    const first = await open(dataDir, await sealOf(dataDir));
    await first.create(KEY, value(PLAIN));
    await first.close();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(await addEncryptionKey(path), 2);
    await (await open(dataDir, await sealOf(dataDir))).close();
    const [newest] = await loadEncryptionKeys(path);
    const store = await open(dataDir, new ValueEncryption([SECRETS], [newest]));
    assert.deepEqual((await store.get(KEY))?.value, value(PLAIN));
    await store.close();
  });

  test('cannot be opened without their key, which the error names', async () => {
    const dataDir = temporaryDirectory();
    const store = await open(dataDir, await sealOf(dataDir));
    await store.create(KEY, value(PLAIN));
    await store.close();
    const [{ id }] = await loadEncryptionKeys(join(dataDir, 'secrets.key'));
    const others = await sealOf(temporaryDirectory());
    await assert.rejects(
      open(dataDir, others),
      refused(new RegExp(`with key ${id}, which the key file does not contain`)),
    );
    await assert.rejects(open(dataDir), refused(/encrypted, but no keys are configured/));
    await (await open(dataDir, await sealOf(dataDir))).close();
  });

  test('cannot be swapped or changed without detection', async () => {
    const dataDir = temporaryDirectory();
    const seal = await sealOf(dataDir);
    const store = await open(dataDir, seal);
    await store.create(KEY, value(PLAIN));
    await store.create(`${KEY}-other`, value('b3RoZXI='));
    await store.close();
    const database = new Database(join(dataDir, 'everynode.db'));
    database.exec(
      `UPDATE objects SET value = (SELECT value FROM objects WHERE key = '${KEY}-other') WHERE key = '${KEY}'`,
    );
    database.close();
    await assert.rejects(open(dataDir, seal), refused(/was changed or belongs to another key/));
  });

  test('are encrypted in a backup as in the database', async () => {
    const dataDir = temporaryDirectory();
    const store = await open(dataDir, await sealOf(dataDir));
    await store.create(KEY, value(PLAIN));
    const path = join(temporaryDirectory(), 'copy.tar');
    await writeBackup({ dataDir, path, takenAt: 1 });
    const unpacked = temporaryDirectory();
    await unpackBackup(path, unpacked);
    assert.ok(!liesIn(unpacked, PLAIN));
    await store.close();
  });

  for (const text of ['', 'rubbish', 'abc c2hvcnQ=', '../x AAAA']) {
    test(`a key file with the text ${JSON.stringify(text)} is rejected and not printed`, async () => {
      const path = join(temporaryDirectory(), 'secrets.key');
      writeFileSync(path, text);
      await assert.rejects(loadEncryptionKeys(path), (error: unknown) => {
        return error instanceof StoreError && (text === '' || !error.message.includes(text));
      });
    });
  }
});
