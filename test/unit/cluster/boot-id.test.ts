/** The name of a boot, also in the installed service, which does not see /proc/sys. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BOOT_ID_VARIABLE, bootId } from '../../../coordinator/cluster/boot-id.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

test('a boot has one name for a data directory, and another one for a copy of it', () => {
  const [directory, copy] = [temporaryDirectory(), temporaryDirectory()];
  const clock = new ManualClock();
  assert.equal(bootId(directory, clock), bootId(directory, clock));
  assert.notEqual(bootId(directory, clock), bootId(copy, clock));
});

test('the unit hides /proc/sys and passes the id of the boot to the service', () => {
  const unit = readFileSync('systemd/everynode-coordinator.service', 'utf8');
  assert.match(unit, /^ProcSubset=pid$/m);
  assert.match(unit, new RegExp(`^Environment=${BOOT_ID_VARIABLE}=%b$`, 'm'));
  const directory = temporaryDirectory();
  process.env[BOOT_ID_VARIABLE] = 'boot-of-systemd';
  try {
    assert.match(bootId(directory, new ManualClock()), /^boot-of-systemd\./);
  } finally {
    delete process.env[BOOT_ID_VARIABLE];
  }
});
