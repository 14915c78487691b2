import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { durableFile } from '../../../agent/desired/durable-file.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';
import {
  MemoryFile,
  readyStatus,
  settled,
  TableFixture,
} from '../../harness/services/service-table-fixture.js';
import { remoteEndpoint, serviceView } from '../../harness/services/service-views.js';

const VIEW = serviceView('web', { remote: [remoteEndpoint(1)] });

async function fixtureWith(file: MemoryFile, clock = new ManualClock(1_000_000)): Promise<TableFixture> {
  const fixture = new TableFixture(clock, file);
  fixture.assignPod('web-1');
  await fixture.open('boot-1', [['web-1', readyStatus(true)]]);
  fixture.table.onNodeLabels({ 'topology.kubernetes.io/zone': 'shop-7' });
  fixture.connect();
  await fixture.resolveFromHub(VIEW);
  return fixture;
}

/** Like a new agent process after the previous one was killed. */
async function restarted(before: TableFixture, bootMark: string): Promise<TableFixture> {
  const fixture = new TableFixture(before.clock, before.file);
  for (const [uid, assigned] of before.assigned) fixture.assigned.set(uid, assigned);
  await fixture.open(bootMark);
  return fixture;
}

describe('service table on disk', () => {
  test('a killed agent answers offline after its restart, with remote and local endpoints', async () => {
    const file = new MemoryFile();
    const before = await fixtureWith(file);
    before.clock.advance(1_000);
    await settled();
    const after = await restarted(before, 'boot-1');
    assert.deepEqual(after.applied, [['web']]);
    const result = await after.table.resolve('default', 'web');
    assert.ok(result.state === 'known');
    assert.deepEqual(result.service.view, VIEW);
    assert.deepEqual(
      result.service.local.map(({ addresses, state, zone }) => [addresses, state, zone]),
      [[['172.17.0.2'], 'ready', 'shop-7']],
    );
  });

  test('after a reboot the addresses of local Pods are unknown until they are reported', async () => {
    const before = await fixtureWith(new MemoryFile());
    await before.table.stop();
    const after = await restarted(before, 'boot-2');
    const local = async () => {
      const result = await after.table.resolve('default', 'web');
      return result.state === 'known' ? result.service.local.flatMap(({ addresses }) => addresses) : [];
    };
    assert.deepEqual(await local(), []);
    after.report('web-1', true, '172.17.0.9');
    await settled();
    assert.deepEqual(await local(), ['172.17.0.9']);
  });

  test('absences are answered after a restart offline', async () => {
    const before = await fixtureWith(new MemoryFile());
    void before.table.resolve('default', 'gone');
    await settled();
    before.pushAbsent('default/gone', 'com/');
    await before.table.stop();
    const { table } = await restarted(before, 'boot-1');
    assert.deepEqual(await Promise.all([table.resolve('default', 'gone'), table.resolve('com', 'example')]), [
      { state: 'absent' },
      { state: 'absent' },
    ]);
  });

  test('an endpoint that flaps for ten minutes costs at most three writes', async () => {
    const file = new MemoryFile();
    const { table, clock } = await fixtureWith(file);
    clock.advance(1_000);
    await settled();
    file.writes = 0;
    for (let second = 0; second < 600; second++) {
      const state = second % 2 === 0 ? 'notReady' : 'ready';
      const none = { set: [], removed: [], ready: [], terminating: [], notReady: [] };
      const changes = [{ ...none, service: 'default/web', [state]: [1] }];
      table.onEndpointChanges({ kind: 'endpointChanges', changes });
      clock.advance(1_000);
      await settled();
    }
    await table.stop();
    assert.ok(file.writes > 0 && file.writes <= 3, `${file.writes} writes`);
  });

  test('a flapping local Pod costs one write in 30 s', async () => {
    const file = new MemoryFile();
    const fixture = await fixtureWith(file);
    fixture.clock.advance(1_000);
    await settled();
    file.writes = 0;
    for (let second = 0; second < 60; second++) {
      fixture.report('web-1', second % 2 === 0);
      fixture.clock.advance(1_000);
      await settled();
    }
    assert.equal(file.writes, 2);
  });

  test('a Service that is new to the host is written after 5 s at the latest', async () => {
    const file = new MemoryFile();
    const fixture = await fixtureWith(file);
    fixture.clock.advance(1_000);
    await settled();
    await fixture.resolveFromHub({ ...VIEW, name: 'second' });
    fixture.clock.advance(5_000);
    await settled();
    assert.match(file.text ?? '', /"name":"second"/);
  });

  test('a failed write is repeated', async () => {
    const file = new MemoryFile();
    const fixture = new TableFixture(new ManualClock(0), file);
    const write = file.write;
    file.write = () => Promise.reject(new Error('ENOSPC'));
    await fixture.open();
    fixture.connect();
    await fixture.resolveFromHub(VIEW);
    fixture.clock.advance(1_000);
    await settled();
    file.write = write;
    fixture.clock.advance(30_000);
    await settled();
    assert.match(file.text ?? '', /"name":"web"/);
  });
});

describe('file of the service table', () => {
  let path: string;
  let folder: string;
  withDirectoryEach((made) => {
    folder = made;
    path = join(folder, 'services.json');
  });
  const open = async () => {
    const fixture = new TableFixture(new ManualClock(7), durableFile(path));
    await fixture.open();
    return fixture;
  };

  for (const [damage, spoil] of [
    ['a flipped byte', (text: string) => text.replace('"name":"web"', '"name":"wab"')],
    ['a torn end', (text: string) => text.slice(0, -10)],
    ['nothing in it', () => ''],
    ['an unknown format', (text: string) => text.replace('"format":1', '"format":9')],
  ] as const) {
    test(`a file with ${damage} is renamed and the table starts empty`, async () => {
      const first = await open();
      first.connect();
      await first.resolveFromHub(VIEW);
      await first.table.stop();
      const spoilt = spoil(readFileSync(path, 'utf8'));
      writeFileSync(path, spoilt);
      const second = await open();
      assert.deepEqual([...second.table.all()], []);
      assert.equal(readFileSync(`${path}.damaged-7`, 'utf8'), spoilt);
    });
  }

  test('a process that is killed while it writes leaves the old or the new table', async () => {
    const program = new URL('../../harness/services/table-writer.js', import.meta.url);
    for (const delayMs of [0, 3, 10, 30]) {
      const child = fork(program, [path]);
      await new Promise((resolve) => child.once('message', resolve));
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      const { table } = await open();
      assert.equal([...table.all()].length, 50);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes('damaged')),
        [],
      );
    }
  });
});
