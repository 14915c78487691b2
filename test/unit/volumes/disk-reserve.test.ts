/** The agent's reserved space on a disk that other programs fill. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DiskReserve } from '../../../agent/desired/disk-reserve.js';
import type { DurableFile } from '../../../agent/desired/durable-file.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';

test('a write without disk space uses the reserve; the next is rejected; then the reserve is restored', async () => {
  const path = join(temporaryDirectory(), 'reserve');
  const clock = new ManualClock();
  const reserve = new DiskReserve(path, clock, silentLogger);
  await reserve.allocate();
  assert.ok(existsSync(path));
  let written = 0;
  let isFull = true;
  const file: DurableFile = {
    read: async () => undefined,
    quarantine: async () => '',
    write: async () => {
      if (isFull && (existsSync(path) || written > 0))
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      written += 1;
    },
  };
  const kept = reserve.withReserve(file);
  await kept.write('a');
  assert.deepEqual([written, existsSync(path)], [1, false]);
  await assert.rejects(kept.write('b'), { code: 'ENOSPC' });
  isFull = false;
  await kept.write('c');
  clock.advance(60_000);
  await until(() => existsSync(path), { timeoutMs: 30_000 });
  reserve.stop();
});

test('an error other than a full disk does not use the reserve', async () => {
  const path = join(temporaryDirectory(), 'reserve');
  const reserve = new DiskReserve(path, new ManualClock(), silentLogger);
  await reserve.allocate();
  const broken: DurableFile = {
    read: async () => undefined,
    quarantine: async () => '',
    write: async () => {
      throw Object.assign(new Error('bad sector'), { code: 'EIO' });
    },
  };
  await assert.rejects(reserve.withReserve(broken).write('a'), { code: 'EIO' });
  assert.ok(existsSync(path));
});
