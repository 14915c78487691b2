/** What `everynode doctor` makes of facts about a coordinator's machine. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  CoordinatorFacts,
  EtcdMemberFact,
  ServingCertificateFact,
} from '../../../coordinator/decisions/doctor/coordinator-facts.js';
import { coordinatorFindings } from '../../../coordinator/decisions/doctor/coordinator-findings.js';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const GIB = 1024 ** 3;
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const CERTIFICATE = {
  what: 'the serving certificate',
  startsAt: NOW - DAY_MS,
  endsAt: NOW + 300 * DAY_MS,
  missingNames: [],
  isOwn: true,
};
const MEMBER = {
  endpoint: 'https://a:2379',
  version: '3.6.1',
  answeredAfter: 3,
  dbBytes: GIB,
  quotaBytes: 8 * GIB,
};
const HEALTHY: CoordinatorFacts = {
  now: NOW,
  system: { isRoot: true, hasSystemd: true, node: 'v20.20.2', kernel: '6.1.0' },
  openFiles: 524_288,
  clock: { isSynchronized: true, lastWriteAt: NOW - 1_000 },
  disk: { path: '/var/lib/everynode', free: 20 * GIB, total: 64 * GIB },
  fileSystem: { isRemote: false, type: 'ext4' },
  sync: { state: 'measured', medianMs: 1.2, worstMs: 4 },
  dataDirectory: { path: '/var/lib/everynode', state: 'present', exposed: [], foreign: [] },
  port: { address: '0.0.0.0:6443', state: 'free' },
  certificates: [CERTIFICATE],
  names: [{ name: 'fleet.example.com', setting: '--advertise', addresses: ['192.0.2.7'] }],
  proxy: { state: 'none' },
  etcd: { state: 'answers', warnings: [], members: [MEMBER] },
  backup: { state: 'scheduled', directory: '/backups', newestAt: NOW - 9 * HOUR_MS, missedAt: NOW + DAY_MS },
};

const path = '/var/lib/everynode';
const disk = (free: number): Partial<CoordinatorFacts> => ({ disk: { path, free, total: 64 * GIB } });
const files = (exposed: string[], foreign: string[] = []): Partial<CoordinatorFacts> => ({
  dataDirectory: { path, state: 'present', exposed, foreign },
});
const port = (code: string): Partial<CoordinatorFacts> => ({
  port: { address: '0.0.0.0:6443', state: 'refused', reason: 'it failed', code },
});
const certificate = (
  change: Partial<Extract<ServingCertificateFact, { isOwn: boolean }>>,
): Partial<CoordinatorFacts> => ({
  certificates: [{ ...CERTIFICATE, ...change }],
});
const etcd = (member: EtcdMemberFact, warnings: string[] = []): Partial<CoordinatorFacts> => ({
  etcd: { state: 'answers', warnings, members: [member] },
});

describe("findings about a coordinator's machine", () => {
  test('a healthy machine has no problem, and each check says what it found', () => {
    assert.deepEqual(
      coordinatorFindings(HEALTHY).map(({ check, result }) => `${result} ${check}`),
      [
        'ok system',
        'ok open files',
        'ok clock',
        'ok disk',
        'ok file system',
        'ok disk speed',
        'ok data directory',
        'ok port',
        'ok certificate',
        'ok DNS',
        'ok proxy',
        'ok etcd',
        'ok backup',
      ],
    );
  });

  const TABLE: [name: string, facts: Partial<CoordinatorFacts>, problem: string, remedy: RegExp][] = [
    ['no systemd', { system: { ...HEALTHY.system, hasSystemd: false } }, 'warning system', /own means/],
    ['few open files', { openFiles: 1_024 }, 'warning open files', /LimitNOFILE/],
    ['no time server', { clock: { isSynchronized: false, lastWriteAt: NOW } }, 'warning clock', /set-ntp/],
    [
      'a clock before the last write',
      { clock: { isSynchronized: true, lastWriteAt: NOW + HOUR_MS } },
      'error clock',
      /Set the clock/,
    ],
    ['little space', disk(GIB / 2), 'warning disk', /Free space/],
    ['hardly any space', disk(GIB / 20), 'error disk', /disk-full/],
    ['a network disk', { fileSystem: { isRemote: true, type: 'NFS' } }, 'error file system', /local disk/],
    ['a slow disk', { sync: { state: 'measured', medianMs: 80, worstMs: 300 } }, 'warning disk speed', /SSD/],
    [
      'a read-only disk',
      { sync: { state: 'failed', reason: 'read-only', code: 'EROFS' } },
      'error disk speed',
      /mounted for writing/,
    ],
    [
      'an ordinary user before the installation',
      { sync: { state: 'failed', reason: 'denied', code: 'EACCES' } },
      'warning disk speed',
      /as root/,
    ],
    ['an exposed key', files([`${path}/pki/ca.key`]), 'error data directory', /chmod -R go=/],
    ['a file of root', files([], [`${path}/everynode.db`]), 'warning data directory', /chown/],
    [
      'an unreadable directory',
      { dataDirectory: { path, state: 'unreadable', reason: 'denied' } },
      'error data directory',
      /as root/,
    ],
    ['a port in use', port('EADDRINUSE'), 'error port', /ss -ltnp/],
    ['a port below 1024', port('EACCES'), 'error port', /above 1023/],
    ['an address of another machine', port('EADDRNOTAVAIL'), 'error port', /--host/],
    [
      'an expired certificate',
      certificate({ endsAt: NOW - 1 }),
      'warning certificate',
      /restart the coordinator/,
    ],
    [
      'an expired supplied certificate',
      certificate({ endsAt: NOW - 1, isOwn: false }),
      'error certificate',
      /Replace the file/,
    ],
    ['a certificate that ends soon', certificate({ endsAt: NOW + DAY_MS }), 'warning certificate', /log/],
    [
      'a supplied certificate that ends soon',
      certificate({ endsAt: NOW + DAY_MS, isOwn: false }),
      'warning certificate',
      /Replace the file/,
    ],
    ['a certificate of the future', certificate({ startsAt: NOW + 1 }), 'error certificate', /Set the clock/],
    ['a missing name', certificate({ missingNames: ['x.example'] }), 'warning certificate', /renews/],
    [
      'an unreadable certificate',
      { certificates: [{ what: 'the serving certificate', reason: 'no PEM' }] },
      'error certificate',
      /backup/,
    ],
    [
      'a name that only clients know',
      { names: [{ name: 'x', setting: '--advertise', reason: 'unknown', code: 'ENOTFOUND' }] },
      'warning DNS',
      /resolv\.conf/,
    ],
    [
      'an unknown name of etcd',
      { names: [{ name: 'x', setting: '--etcd', reason: 'unknown', code: 'ENOTFOUND' }] },
      'error DNS',
      /resolv\.conf/,
    ],
    ['an invalid proxy', { proxy: { state: 'invalid', reason: 'is wrong' } }, 'error proxy', /Correct/],
    [
      'a proxy in front of the coordinator',
      { proxy: { state: 'set', proxy: 'http://p:3128', through: ['https://c:6443'] } },
      'warning proxy',
      /NO_PROXY/,
    ],
    [
      'an etcd of another fleet',
      { etcd: { state: 'refused', reason: 'other' } },
      'error etcd',
      /no coordinator/,
    ],
    [
      'a silent member',
      etcd({ endpoint: 'https://b:2379', reason: 'no answer' }),
      'warning etcd',
      /Start this/,
    ],
    [
      'a silent member that the start check names too',
      etcd({ endpoint: 'https://b:2379', reason: 'no answer' }, ['etcd https://b:2379: no answer']),
      'warning etcd',
      /Start this/,
    ],
    ['a slow etcd', etcd({ ...MEMBER, answeredAfter: 400 }), 'warning etcd', /disk and the network/],
    ['a nearly full etcd', etcd({ ...MEMBER, dbBytes: 7 * GIB }), 'warning etcd', /defrag/],
    [
      'an etcd of unknown quota that is nearly full by the default',
      etcd({ ...MEMBER, dbBytes: 1.9 * GIB, quotaBytes: undefined }),
      'warning etcd',
      /defrag/,
    ],
    ['an alarm', etcd(MEMBER, ['etcd has the alarm NOSPACE']), 'warning etcd', /several-coordinators/],
    ['backups turned off', { backup: { state: 'off', newestAt: undefined } }, 'warning backup', /Take one/],
    [
      'no backup yet',
      { backup: { state: 'scheduled', directory: '/b', newestAt: undefined, missedAt: undefined } },
      'warning backup',
      /Take one/,
    ],
    [
      'two missing backups',
      {
        backup: { state: 'scheduled', directory: '/b', newestAt: NOW - 3 * DAY_MS, missedAt: NOW - HOUR_MS },
      },
      'warning backup',
      /scheduled job failed/,
    ],
  ];
  for (const [name, facts, problem, remedy] of TABLE) {
    test(`${name}: ${problem}`, () => {
      const problems = coordinatorFindings({ ...HEALTHY, ...facts }).filter(({ result }) => result !== 'ok');
      assert.equal(problems.length, 1);
      const [found] = problems;
      assert.ok(found && found.result !== 'ok');
      assert.equal(`${found.result} ${found.check}`, problem);
      assert.match(found.remedy, remedy);
    });
  }

  test('a machine before the first start is in order', () => {
    const fresh: Partial<CoordinatorFacts> = {
      clock: { isSynchronized: undefined, lastWriteAt: undefined },
      dataDirectory: { path, state: 'absent' },
      certificates: [],
      names: [],
      etcd: { state: 'none' },
      backup: { state: 'noData' },
    };
    assert.ok(coordinatorFindings({ ...HEALTHY, ...fresh }).every(({ result }) => result === 'ok'));
  });
});
