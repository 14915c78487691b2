/** Log files of Pods, made from files that a test writes like an engine. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import type { EngineLogFormat } from '../../../agent/decisions/pod-logs/cri-lines.js';
import { PodLogFiles } from '../../../agent/pod-logs/pod-log-files.js';
import { removePodLogs } from '../../../agent/pod-logs/remove-pod-logs.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory, withDirectoryEach } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { criLines, EngineLog, textsOf } from '../../harness/pod-logs/engine-logs.js';
import { mountSmallDisk } from '../../harness/pods/small-disk.js';

const ID = 'c'.repeat(64);
const MEBIBYTE = 1024 * 1024;
const PADDING = 'x'.repeat(200);

describe('log files of Pods', () => {
  let root = '';
  let directory = '';
  let started: PodLogFiles[] = [];
  withDirectoryEach((path) => {
    root = path;
    directory = join(path, 'log');
    for (const name of ['log', 'engine', 'data']) mkdirSync(join(path, name));
    started = [];
  });
  afterEach(async () => {
    for (const files of started) await files.stop();
  });

  const open = (format: EngineLogFormat, maxBytes = 10 * MEBIBYTE, clock = systemClock): PodLogFiles => {
    const files = new PodLogFiles({
      directory,
      format,
      limits: { maxBytes, maxFiles: 5, leastAgeMs: 1_000, settleMs: 100 },
      dataDir: join(root, 'data'),
      clock,
      wallClock: systemClock,
      log: silentLogger,
    });
    started.push(files);
    return files;
  };
  const observe = (files: PodLogFiles, ...logs: EngineLog[]): void =>
    files.observe(
      files.nextInspection(),
      logs.map((log) => log.observed()),
    );
  const folder = () => join(directory, 'pods/shop_web_uid-1/main');
  const numbers = (file = '0.log'): number[] =>
    textsOf(criLines(folder(), file)).map((text) => Number(/^line (\d+)/.exec(text)?.[1]));
  /** Waits until the log files have exactly the lines 1 to `count`, in order. */
  const untilComplete = (count: number): Promise<void> =>
    untilPasses(() => {
      const found = numbers();
      assert.equal(found.length, count);
      assert.deepEqual(
        found,
        Array.from({ length: count }, (_, index) => index + 1),
      );
    });

  for (const format of ['json-file', 'k8s-file'] as const) {
    test(`${format}: each line is copied in CRI format, into a file like the kubelet's with a link to it`, async () => {
      const log = new EngineLog(join(root, 'engine'), ID, format);
      log.write(3);
      observe(open(format), log);
      await untilComplete(3);
      log.write(2);
      await untilComplete(5);
      const [first] = criLines(folder(), '0.log');
      assert.equal(first, '2016-10-06T00:17:09.000000001Z stdout F line 1');
      assert.equal(statSync(join(folder(), '0.log')).mode & 0o777, 0o640);
      assert.equal(statSync(folder()).mode & 0o777, 0o755);
      const link = join(directory, 'containers', `web_shop_main-${ID}.log`);
      assert.equal(readlinkSync(link), join(folder(), '0.log'));
      assert.equal(readFileSync(link, 'utf8').split('\n').length, 6);
    });

    test(`${format}: no line is lost or repeated over the engine's rotation`, async () => {
      const log = new EngineLog(join(root, 'engine'), ID, format);
      const files = open(format);
      log.write(1);
      observe(files, log);
      await untilComplete(1);
      for (let round = 0; round < 3; round += 1) {
        log.write(500);
        log.rotate();
        log.write(1);
        await untilComplete(log.count);
      }
      assert.equal(files.counts.gaps, 0);
    });

    test(`${format}: an agent that was killed in the middle of a copy continues without losing or repeating a line`, async () => {
      const log = new EngineLog(join(root, 'engine'), ID, format);
      log.write(6_000, PADDING);
      // A kill of the agent at any byte leaves the file cut there.
      for (const cut of [1, 150, 300_000]) {
        const files = open(format);
        observe(files, log);
        await untilComplete(log.count);
        await files.stop();
        const copied = readFileSync(join(folder(), '0.log'));
        const position = join(root, 'data/pod-logs', `${ID}.json`);
        const stored = JSON.parse(readFileSync(position, 'utf8'));
        // The position that the killed agent had stored was older than the end of its file.
        assert.equal(stored.target.offset, copied.length);
        rewindPosition(position, format, log.path, copied);
        writeFileSync(join(folder(), '0.log'), copied.subarray(0, copied.length - cut));
        log.write(10, PADDING);
      }
      observe(open(format), log);
      await untilComplete(log.count);
    });
  }

  test('json-file: an agent that was down for hours copies what the engine has kept', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    const before = open('json-file');
    log.write(10);
    observe(before, log);
    await untilComplete(10);
    await before.stop();
    for (let round = 0; round < 3; round += 1) {
      log.write(1000);
      log.rotate();
    }
    log.write(1);
    observe(open('json-file'), log);
    await untilComplete(3011);
  });

  test('json-file: lines that the engine has rotated away are counted as a gap', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    const before = open('json-file');
    log.write(10);
    observe(before, log);
    await untilComplete(10);
    await before.stop();
    for (let round = 0; round < 6; round += 1) {
      log.write(10);
      log.rotate();
    }
    log.write(5);
    const after = open('json-file');
    observe(after, log);
    await untilPasses(() => assert.equal(numbers().at(-1), log.count));
    assert.equal(after.counts.gaps, 1);
    assert.deepEqual(numbers(), [...range(1, 10), ...range(31, 75)]);
  });

  test('a full log file is rotated; older ones are compressed, and at most the given number is kept', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    observe(open('json-file', 64 * 1024), log);
    const kept = (): string[] => readdirSync(folder()).sort();
    const rotations = new Set<string>();
    // A poll rotates the file at most once. On a busy machine some polls copy lines without a rotation.
    for (let writes = 1; rotations.size < 6; writes += 1) {
      assert.ok(writes <= 30, `${rotations.size} rotations after 30 writes`);
      log.write(400, PADDING);
      await untilPasses(() => assert.equal(numbers().at(-1), log.count));
      for (const name of kept()) if (name !== '0.log') rotations.add(name.replace('.gz', ''));
      if (rotations.size <= 4) await untilComplete(log.count);
    }
    await untilPasses(() =>
      assert.match(
        kept().join(' '),
        /^0\.log 0\.log\.\d{8}-\d{6}\.gz 0\.log\.\d{8}-\d{6}\.gz 0\.log\.\d{8}-\d{6}\.gz 0\.log\.\d{8}-\d{6}$/,
      ),
    );
    const found = numbers();
    assert.deepEqual(found, range(found[0] ?? 0, log.count), 'the kept lines have no hole');
  });

  test('a program that reads a log file while it is rotated finds each line once', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    observe(open('json-file', 64 * 1024), log);
    log.write(400, PADDING);
    await untilComplete(400);
    const inode = statSync(join(folder(), '0.log')).ino;
    await untilPasses(() => {
      log.write(1);
      assert.equal(readdirSync(folder()).length, 2);
    });
    await untilComplete(log.count);
    const rotated = readdirSync(folder()).find((name) => name !== '0.log') ?? '';
    // A rename keeps the file that the reader has open, and the latest rotated file is not compressed.
    assert.equal(statSync(join(folder(), rotated)).ino, inode);
  });

  test('malformed lines of the engine are left out and counted', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    const files = open('json-file');
    log.write(1);
    log.append(`{"log":"torn\n${'\0'.repeat(400 * 1024)}\n`);
    log.write(1);
    observe(files, log);
    await untilComplete(2);
    assert.ok(files.counts.malformedLines >= 2);
  });

  test('a link in place of a folder or a log file is not followed', async () => {
    const outside = temporaryDirectory();
    writeFileSync(join(outside, 'secret'), 'untouched');
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    log.write(1);
    mkdirSync(folder(), { recursive: true });
    symlinkSync(join(outside, 'secret'), join(folder(), '0.log'));
    const attacked = open('json-file');
    observe(attacked, log);
    await untilPasses(() => assert.ok(existsSync(join(directory, 'containers', `web_shop_main-${ID}.log`))));
    await attacked.stop();
    assert.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'untouched');

    rmSync(join(directory, 'pods'), { recursive: true });
    symlinkSync(outside, join(directory, 'pods'));
    rmSync(join(directory, 'containers'), { recursive: true });
    symlinkSync(outside, join(directory, 'containers'));
    const second = open('json-file');
    observe(second, log);
    await second.drain(ID);
    await second.stop();
    await removePodLogs(join(root, 'data'));
    assert.deepEqual(readdirSync(outside), ['secret']);
  });

  test('log files are removed a minute after their container, and those of other attempts and programs stay', async () => {
    const clock = new ManualClock(0);
    const first = new EngineLog(join(root, 'engine'), ID, 'json-file');
    const second = new EngineLog(join(root, 'engine'), 'd'.repeat(64), 'json-file');
    first.write(1);
    second.write(1);
    mkdirSync(join(directory, 'pods/other_program_uid'), { recursive: true });
    const files = open('json-file', undefined, clock);
    const both = [first.observed('exited'), second.observed('running', 1)];
    files.observe(files.nextInspection(), both, 'uid-1');
    for (const { id } of [first, second]) await files.drain(id);
    first.write(1);
    await files.drain(ID);
    assert.deepEqual(numbers(), [1, 2]);
    files.onRemoved(ID);
    clock.advance(59_000);
    assert.ok(existsSync(join(folder(), '0.log')));
    clock.advance(1_000);
    await untilPasses(() => assert.deepEqual(readdirSync(folder()), ['1.log']));
    const links = () => readdirSync(join(directory, 'containers'));
    await untilPasses(() => assert.deepEqual(links(), [`web_shop_main-${second.id}.log`]));

    // An inspection that began before the container was created does not remove its files.
    const stale = files.nextInspection() - 1;
    files.observe(stale - 1, []);
    clock.advance(61_000);
    assert.deepEqual(readdirSync(folder()), ['1.log']);
    files.observe(files.nextInspection(), []);
    clock.advance(61_000);
    await untilPasses(() => assert.deepEqual(readdirSync(join(directory, 'pods')), ['other_program_uid']));
    await untilPasses(() => assert.deepEqual(links(), []));
    await untilPasses(() => assert.deepEqual(readdirSync(join(root, 'data/pod-logs')), []));
  });

  test('files of containers that were removed while the agent was down are removed at its next start', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    log.write(1);
    const before = open('json-file');
    observe(before, log);
    await untilComplete(1);
    await before.stop();
    const after = open('json-file');
    after.observe(after.nextInspection(), []);
    await untilPasses(() => assert.deepEqual(readdirSync(join(directory, 'pods')), []));
  });

  test('an agent that leaves the host removes its own files and empty folders only', async () => {
    const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
    log.write(1);
    const files = open('json-file');
    observe(files, log);
    await untilComplete(1);
    await files.stop();
    writeFileSync(join(directory, 'syslog'), '');
    await removePodLogs(join(root, 'data'));
    assert.deepEqual(readdirSync(directory), ['syslog']);
    assert.deepEqual(readdirSync(join(root, 'data')), []);
  });

  test('on a full disk lines wait in the log of the engine, and none is lost once the disk has space', async (context) => {
    const disk = mountSmallDisk(directory, 1);
    if (typeof disk === 'string') return leaveOut(context, 'log files on a full disk', disk);
    try {
      const log = new EngineLog(join(root, 'engine'), ID, 'json-file');
      const files = open('json-file');
      log.write(10);
      observe(files, log);
      await untilComplete(10);
      disk.fill();
      log.write(2_000, PADDING);
      await files.drain(ID);
      assert.ok(numbers().length < log.count);
      disk.free();
      await files.drain(ID);
      await untilComplete(log.count);
      assert.deepEqual(files.counts.gaps, 0);
      await files.stop();
    } finally {
      disk.unmount();
    }
  });

  test('a container without a log file of the engine is not copied', async () => {
    const files = open('json-file');
    const { logPath: _logPath, ...observed } = new EngineLog(root, ID, 'json-file').observed();
    files.observe(files.nextInspection(), [observed]);
    await files.drain(ID);
    assert.deepEqual(readdirSync(directory), []);
    assert.deepEqual(readdirSync(join(root, 'data')), []);
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Sets the stored position back to the middle of the log, as the last one before a kill may be. */
function rewindPosition(path: string, format: EngineLogFormat, logPath: string, copied: Buffer): void {
  const source = readFileSync(logPath);
  const line = 1_000;
  const offsetOf = (bytes: Buffer): number => {
    let offset = 0;
    for (let count = 0; count < line; count += 1) offset = bytes.indexOf(10, offset) + 1;
    return offset;
  };
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  assert.equal(stored.source.inode, statSync(logPath).ino, format);
  stored.source.offset = offsetOf(source);
  stored.target.offset = offsetOf(copied);
  writeFileSync(path, JSON.stringify(stored));
}
