/** The host's key: created once, sealed where possible, and never a reason to fail the start. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { loadHostKey } from '../../../agent/desired/host-key.js';
import { findTpmSealer, type KeySealer, systemdSealer } from '../../../agent/desired/tpm-sealer.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';

let path: string;
withDirectoryEach((made) => {
  path = join(made, 'host.key');
});

const load = (sealer?: KeySealer) => loadHostKey(path, sealer, silentLogger);
const flipped = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0xff));
/** A substitute for a TPM. Its output is text, like that of systemd-creds. */
const SEALER: KeySealer = {
  seal: async (key) => Buffer.from(flipped(key).toString('hex')),
  unseal: async (sealed) => flipped(Buffer.from(sealed.toString(), 'hex')),
};
const BROKEN: KeySealer = {
  seal: () => Promise.reject(new Error('no')),
  unseal: () => Promise.reject(new Error('no')),
};

describe("the host's key", () => {
  test('is created once, readable by its owner only', async () => {
    const key = await load();
    assert.equal(key.length, 32);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(await load(), key);
  });

  test('is never stored unencrypted where it can be sealed', async () => {
    const key = await load(SEALER);
    assert.deepEqual(await load(SEALER), key);
    assert.deepEqual([existsSync(path), existsSync(`${path}.tpm`)], [false, true]);
    const stored = readFileSync(`${path}.tpm`);
    assert.ok(!stored.includes(key) && !stored.includes(key.toString('base64')));
  });

  test('keeps its value when it is sealed later', async () => {
    const key = await load();
    assert.deepEqual(await load(SEALER), key);
    assert.equal(existsSync(path), false);
  });

  test('stays in its file when the TPM rejects', async () => {
    const key = await load(BROKEN);
    assert.deepEqual(await load(BROKEN), key);
    assert.equal(existsSync(path), true);
  });

  test('that cannot be unsealed is replaced for this process only', async () => {
    const key = await load(SEALER);
    for (const sealer of [BROKEN, undefined]) {
      const other = await load(sealer);
      assert.equal(other.length, 32);
      assert.notDeepEqual(other, key);
    }
    assert.deepEqual(await load(SEALER), key);
  });

  test('is sealed and unsealed by systemd-creds', async (context) => {
    // systemd-creds' substitute for a TPM. It differs from a real one only in who can unseal.
    const sealer = systemdSealer('tpm2-absent');
    const sealed = await sealer.seal(Buffer.from('probe')).catch((error: Error) => error);
    if (sealed instanceof Error) return leaveOut(context, 'the sealed key', sealed.message);
    assert.deepEqual(await sealer.unseal(sealed), Buffer.from('probe'));
    const key = await load(sealer);
    assert.deepEqual(await load(sealer), key);
  });

  test('is not sealed without a TPM device, and systemd-creds is not run', async (context) => {
    if (process.getuid?.() !== 0) return leaveOut(context, 'the TPM of root', 'needs root');
    for (const devices of ['/nowhere', dirname(path)])
      assert.equal(await findTpmSealer('/bin/true', devices), undefined);
    writeFileSync(join(dirname(path), 'tpmrm0'), '');
    assert.notEqual(await findTpmSealer('/bin/true', dirname(path)), undefined);
    assert.equal(await findTpmSealer('/bin/false', dirname(path)), undefined);
  });

  test('is not sealed without systemd-creds', async () => {
    writeFileSync(join(dirname(path), 'tpmrm0'), '');
    assert.equal(await findTpmSealer('/nowhere/systemd-creds', dirname(path)), undefined);
  });
});
