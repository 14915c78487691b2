/** The drop-in without which systemd stops starting a coordinator while etcd has no majority. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { removeEtcdDropIn, updateEtcdDropIn } from '../../../coordinator/cli/machine/etcd-drop-in.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const WITH_ETCD = 'data: /var/lib/everynode\netcd: https://192.0.2.11:2379\n';
const WITHOUT = '# Settings\ndata: /var/lib/everynode\n';

const newPath = (): string => join(temporaryDirectory(), 'everynode-coordinator.service.d', 'etcd.conf');

test('settings with etcd write the drop-in once, settings without it remove it', () => {
  const path = newPath();
  assert.equal(updateEtcdDropIn(WITHOUT, path), false);
  assert.equal(existsSync(path), false);
  assert.equal(updateEtcdDropIn(WITH_ETCD, path), true);
  assert.match(readFileSync(path, 'utf8'), /^StartLimitIntervalSec=0$/m);
  assert.equal(updateEtcdDropIn(WITH_ETCD, path), false);
  assert.equal(updateEtcdDropIn(WITHOUT, path), true);
  assert.equal(existsSync(dirname(path)), false);
  assert.equal(updateEtcdDropIn('', path), false);
});

test('drop-ins of the operator stay', () => {
  const path = newPath();
  mkdirSync(dirname(path));
  const own = join(dirname(path), 'own.conf');
  writeFileSync(own, '[Service]\n');
  updateEtcdDropIn(WITH_ETCD, path);
  assert.equal(removeEtcdDropIn(path), true);
  assert.equal(existsSync(own), true);
});

test('systemd accepts the unit with the drop-in, and never stops starting it', (context) => {
  const folder = temporaryDirectory();
  const unit = join(folder, 'everynode-coordinator.service');
  copyFileSync(resolve('systemd/everynode-coordinator.service'), unit);
  updateEtcdDropIn(WITH_ETCD, join(`${unit}.d`, 'etcd.conf'));
  const { stdout, stderr, error } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  if (error) return leaveOut(context, 'the drop-in of etcd', 'systemd-analyze is not installed');
  // The program itself is not installed here.
  const complaints = (stdout + stderr).split('\n').filter((line) => !/^$|is not executable/.test(line));
  assert.deepEqual(complaints, []);
});
