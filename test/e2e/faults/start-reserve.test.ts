/** The disk space that a coordinator reserves for its next start, on a real disk. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { StartReserve, waitForStartSpace } from '../../../coordinator/store/start-reserve.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { mountReservedDisk, mountSmallDisk } from '../../harness/pods/small-disk.js';

const MEBIBYTE = 2 ** 20;
const RESERVE_BYTES = 2 * MEBIBYTE;
const REFILL_MS = 60_000;

test('the start reserve leaves the last free space to writes, and is taken when there is more', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-reserve-'));
  const disk = mountSmallDisk(join(folder, 'disk'), 8);
  context.after(() => {
    if (typeof disk !== 'string') disk.unmount();
    rmSync(folder, { recursive: true, force: true });
  });
  if (typeof disk === 'string') return leaveOut(context, 'the reserve', disk);
  const others = join(disk.path, 'others');
  writeFileSync(others, Buffer.alloc(5 * MEBIBYTE, 1));
  const clock = new ManualClock();
  const reserve = new StartReserve({ dataDir: disk.path, clock, log: silentLogger });
  const size = () => statSync(join(disk.path, 'reserve'), { throwIfNoEntry: false })?.size;
  await reserve.start();
  assert.equal(size(), undefined);
  rmSync(others);
  clock.advance(REFILL_MS);
  await until(() => size() === RESERVE_BYTES, { timeoutMs: 30_000, what: 'the reserve' });
  reserve.stop();
});

test('a coordinator that runs as root starts in the disk blocks reserved for root', {
  timeout: 60_000,
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-reserved-'));
  const disk = mountReservedDisk(join(folder, 'disk'), { mebibytes: 16, reservedPercent: 40 });
  context.after(() => {
    if (typeof disk !== 'string') disk.unmount();
    rmSync(folder, { recursive: true, force: true });
  });
  if (typeof disk === 'string') return leaveOut(context, 'blocks kept for root', disk);
  const { bavail, bsize } = statfsSync(disk.path);
  writeFileSync(join(disk.path, 'others'), Buffer.alloc(bavail * bsize, 1));
  assert.ok(statfsSync(disk.path).bavail * bsize < MEBIBYTE);
  // The clock does not advance, so any wait would never end.
  await waitForStartSpace({ dataDir: disk.path, clock: new ManualClock(), log: silentLogger });
  assert.deepEqual(readdirSync(disk.path).sort(), ['lost+found', 'others']);
});

test('files of a start that was killed while it waited for disk space do not block the next start', async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'everynode-room-'));
  context.after(() => rmSync(dataDir, { recursive: true, force: true }));
  writeFileSync(join(dataDir, 'space-probe'), Buffer.alloc(MEBIBYTE, 1));
  await waitForStartSpace({ dataDir, clock: new ManualClock(), log: silentLogger });
  assert.deepEqual(readdirSync(dataDir), []);
});
