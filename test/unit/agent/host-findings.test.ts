/** What `everynode-agent doctor` makes of facts about a host. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HostFacts, hostFindings } from '../../../agent/decisions/doctor/host-findings.js';
import { findingLines } from '../../../shared/doctor/doctor-report.js';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const GIB = 1024 ** 3;
const DAY_MS = 24 * 60 * 60_000;

const HEALTHY: HostFacts = {
  now: NOW,
  isRoot: true,
  hasSystemd: true,
  engine: { answers: true, name: 'docker', version: '28.2.2' },
  cgroups: 'v2',
  nftables: 'works',
  disk: { path: '/var/lib', free: 20 * GIB, total: 64 * GIB },
  identity: { state: 'joined', node: 'shop-1', certificateEndsAt: NOW + 60 * DAY_MS },
  coordinators: [{ address: 'https://c:6443', isReached: true, answeredAfter: 12.4, clock: NOW }],
};

const reached = (clock: number | undefined): Partial<HostFacts> => ({
  coordinators: [{ address: 'https://c:6443', isReached: true, answeredAfter: 5, clock }],
});
const unreached = (code: string | undefined): Partial<HostFacts> => ({
  coordinators: [{ address: 'https://c:6443', isReached: false, reason: 'it failed', code }],
});
const disk = (free: number): Partial<HostFacts> => ({ disk: { path: '/', free, total: 64 * GIB } });
const certificate = (inMs: number): Partial<HostFacts> => ({
  identity: { state: 'joined', node: 'shop-1', certificateEndsAt: NOW + inMs },
});

describe('findings about a host', () => {
  test('a healthy host has no problem, and each check says what it found', () => {
    assert.deepEqual(
      hostFindings(HEALTHY).map(({ check, result }) => `${result} ${check}`),
      [
        'ok system',
        'ok container engine',
        'ok cgroups',
        'ok nftables',
        'ok disk',
        'ok identity',
        'ok coordinator',
        'ok clock',
      ],
    );
  });

  const TABLE: [name: string, facts: Partial<HostFacts>, problem: string, remedy: RegExp][] = [
    ['no systemd', { hasSystemd: false }, 'warning system', /own means/],
    ['an ordinary user', { isRoot: false }, 'warning system', /as root/],
    ['no engine', { engine: { answers: false, reason: 'none' } }, 'error container engine', /Install Docker/],
    ['no cgroups', { cgroups: 'none' }, 'warning cgroups', /no effect/],
    ['no nft', { nftables: 'missing' }, 'warning nftables', /package nftables/],
    ['no right to change rules', { nftables: 'notPermitted' }, 'warning nftables', /as root/],
    ['a kernel without nftables', { nftables: 'refused' }, 'warning nftables', /nf_tables/],
    ['little space', disk(GIB), 'warning disk', /Free space/],
    ['hardly any space', disk(GIB / 4), 'error disk', /Free space/],
    ['a damaged identity', { identity: { state: 'damaged', reason: 'x' } }, 'error identity', /Join again/],
    ['an expired certificate', certificate(-1), 'error identity', /Check the clock/],
    ['a certificate that ends soon', certificate(DAY_MS), 'warning identity', /is connected/],
    ['an unknown name', unreached('ENOTFOUND'), 'error coordinator', /resolv\.conf/],
    ['a closed port', unreached('ECONNREFUSED'), 'error coordinator', /Check the port/],
    ['a failing proxy', unreached('PROXY'), 'error coordinator', /HTTPS_PROXY/],
    ['a firewall', unreached('ETIMEDOUT'), 'error coordinator', /firewalls/],
    ['another failure', unreached(undefined), 'error coordinator', /token create/],
    ['a clock a minute behind', reached(NOW + 60_000), 'warning clock', /timedatectl/],
    ['a clock a day ahead', reached(NOW - DAY_MS), 'error clock', /timedatectl/],
  ];
  for (const [name, facts, problem, remedy] of TABLE) {
    test(`${name}: ${problem}`, () => {
      const problems = hostFindings({ ...HEALTHY, ...facts }).filter(({ result }) => result !== 'ok');
      assert.equal(problems.length, 1);
      const [found] = problems;
      assert.ok(found && found.result !== 'ok');
      assert.equal(`${found.result} ${found.check}`, problem);
      assert.match(found.remedy, remedy);
    });
  }

  test('an answer without a time says nothing about the clock', () => {
    const checks = hostFindings({ ...HEALTHY, ...reached(undefined) }).map(({ check }) => check);
    assert.equal(checks.includes('clock'), false);
  });

  test('a host that has not joined and knows no coordinator is in order', () => {
    const fresh: Partial<HostFacts> = { identity: { state: 'none' }, coordinators: [] };
    assert.ok(hostFindings({ ...HEALTHY, ...fresh }).every(({ result }) => result === 'ok'));
  });

  test('the remedy is printed below what was found', () => {
    const lines = findingLines([
      { check: 'disk', found: 'full', result: 'error', remedy: 'Free space.' },
      { check: 'clock', found: '0 s ahead of the coordinator', result: 'ok' },
    ]);
    assert.deepEqual(lines, [
      'error  disk   full',
      '              → Free space.',
      'ok     clock  0 s ahead of the coordinator',
    ]);
  });
});
