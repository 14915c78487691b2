/** The start page's decisions: what needs an operator, by cause; sites; windows; one sentence. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { CalendarSpan, ChangeCalendar } from '../../../shared/kube/fleet/change-calendar-types.js';
import type { FailingPod, Host, HostStatus } from '../../../shared/kube/fleet/host-types.js';
import { isTroubledHost } from '../../../shared/kube/fleet/troubled-host.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

const { fleetCauses } =
  await consoleModule<typeof import('../../../console/overview/fleet-causes.js')>('overview/fleet-causes.ts');
const { countHealth, fleetSentence } = await consoleModule<
  typeof import('../../../console/overview/fleet-sentence.js')
>('overview/fleet-sentence.ts');
const { siteLabelOf, summariseSites } =
  await consoleModule<typeof import('../../../console/overview/site-summary.js')>('overview/site-summary.ts');
const windows = await consoleModule<typeof import('../../../console/overview/upcoming-windows.js')>(
  'overview/upcoming-windows.ts',
);
const { durationText, shareText, stripSpans, stripText } = await consoleModule<
  typeof import('../../../console/availability/availability-text.js')
>('availability/availability-text.ts');
const { siteLabelsIn, siteTotalsIn } = await consoleModule<
  typeof import('../../../console/availability/site-totals.js')
>('availability/site-totals.ts');
const notices =
  await consoleModule<typeof import('../../../console/overview/new-notices.js')>('overview/new-notices.ts');
const { causesOfHost, failingCause } =
  await consoleModule<typeof import('../../../console/fleet/failing-cause.js')>('fleet/failing-cause.ts');
const { hostFilter } =
  await consoleModule<typeof import('../../../console/fleet/host-filter.js')>('fleet/host-filter.ts');
const { isRolloutOver, primaryVerbs } = await consoleModule<
  typeof import('../../../console/rollouts/rollout-phases.js')
>('rollouts/rollout-phases.ts');

const NOW = Date.parse('2026-11-22T12:00:00Z');
const CONTEXT = { now: NOW, version: 'v1.0.0' };

function host(name: string, status: Partial<HostStatus> = {}, labels: Record<string, string> = {}): Host {
  return {
    ...{ kind: 'Host', apiVersion: 'fleet.everynode.dev/v1', metadata: { name, labels } },
    status: {
      ...{ state: 'Ready', pressures: [], unschedulable: false, taints: 0, agentVersion: 'v1.0.0' },
      ...{ pods: { total: 1, ready: 1, failing: 0 }, failing: [] },
      ...status,
    },
  };
}

const offline = (name: string, site: string, since: string) =>
  host(name, { state: 'Unknown', since }, { site });
const well = (name: string, site: string) => host(name, {}, { site });
const failing = (name: string, pod: Partial<FailingPod>, labels: Record<string, string> = {}) => {
  const whole = { namespace: 'shop', name: `${name}-pod`, message: 'm', reason: 'Failed', ...pod };
  return host(name, { pods: { total: 1, ready: 0, failing: 1 }, failing: [whole] }, labels);
};
const waitingJob = (name: string): DaemonJob => ({
  ...{ apiVersion: 'fleet.everynode.dev/v1', kind: 'DaemonJob', metadata: { namespace: 'shop', name } },
  spec: { template: { spec: { containers: [] } } },
  status: {
    ...{ hosts: 2, startTime: '2026-11-22T11:00:00Z' },
    rollout: {
      ...{ phase: 'AwaitingApproval', message: 'wave rest waits for approval' },
      ...{ wave: 'canary', startTime: '2026-11-22T11:00:00Z', waves: [] },
    },
  },
});
const rollout = (name: string, status: Partial<RolloutStatus>) =>
  ({
    metadata: { namespace: 'shop', name },
    status: { message: '', startTime: '2026-11-22T11:00:00Z', waves: [], wave: 'canary', ...status },
  }) as unknown as Rollout;

function causesOf(
  hosts: readonly Host[],
  more: { rollouts?: readonly Rollout[]; jobs?: readonly DaemonJob[]; pendingJoins?: number } = {},
) {
  const sites = summariseSites(hosts, 'site');
  return fleetCauses({
    ...{ hosts, sites, siteLabel: 'site', context: CONTEXT, rollouts: [], jobs: [], pendingJoins: 0 },
    ...more,
  });
}

describe('the inbox of the start page', () => {
  test('is the same for the hosts that need an operator, and the totals of sites', () => {
    const hosts = [
      ...[offline('a', 'rostock', '2026-11-01T00:00:00Z'), offline('b', 'rostock', '2026-11-22T11:50:00Z')],
      ...[well('c', 'rostock'), well('d', 'rostock')],
      ...[offline('e', 'kiel', '2026-11-20T00:00:00Z'), offline('f', 'kiel', '2026-11-20T00:00:00Z')],
      ...['g', 'h', 'i'].map((name) => well(name, 'kiel')),
      ...[failing('j', {}), host('k', { pressures: ['DiskPressure'] }), host('l', { clockSkew: 'late' })],
      ...[host('m', { certificateEnds: '2026-11-30T00:00:00Z' }), host('n', { state: 'NotReady' })],
    ];
    const totals = new Map(summariseSites(hosts, 'site').map(({ site, total }) => [site, total]));
    const troubled = hosts.filter((each) => isTroubledHost(each, NOW));
    assert.equal(troubled.length, 9);
    const sites = summariseSites(troubled, 'site', (site) => totals.get(site));
    const ofFew = fleetCauses({
      ...{ hosts: troubled, sites, siteLabel: 'site', context: CONTEXT },
      ...{ rollouts: [], jobs: [], pendingJoins: 0 },
    });
    assert.deepEqual(ofFew, causesOf(hosts));
    assert.ok(ofFew.some(({ title }) => title === 'Site rostock is mostly offline'));
  });

  test('has the sites of a fleet whose sums are known, and none without them', () => {
    const sums = {
      day: { observedSeconds: 0, readySeconds: 0 },
      week: { observedSeconds: 0, readySeconds: 0 },
    };
    const groups = [
      { value: 'kiel', hosts: 3, ...sums },
      { hosts: 2, ...sums },
    ];
    const totals = siteTotalsIn({ answer: { groups } });
    assert.ok(typeof totals === 'function');
    assert.deepEqual([totals('kiel'), totals(undefined), totals('ulm')], [3, 2, undefined]);
    assert.deepEqual(siteLabelsIn({ answer: { labels: ['region'], groups } }), ['region']);
    const earlier = { answer: { groups: [{ value: 'kiel', hosts: 3 }, { value: 'ulm' }] } };
    for (const [resource, state] of [
      [{}, 'loading'],
      [{ code: 0 }, 'loading'],
      [{ code: 429 }, 'loading'],
      [{ code: 503 }, 'loading'],
      [{ code: 400 }, 'refused'],
      [{ code: 403 }, 'refused'],
      [{ code: 404 }, 'refused'],
      [earlier, 'refused'],
    ] as const) {
      assert.equal(siteLabelsIn(resource), state);
      assert.equal(siteTotalsIn(resource), state);
    }
  });

  test('is empty for a healthy fleet, also during maintenance', () => {
    assert.deepEqual(causesOf([well('a', 'kiel'), host('b', { unschedulable: true })]), []);
  });

  test('has one item for a site that is offline, and one for all other offline hosts', () => {
    const hosts = [
      offline('a', 'rostock', '2026-11-01T00:00:00Z'),
      offline('b', 'rostock', '2026-11-22T11:50:00Z'),
      offline('c', 'rostock', '2026-11-22T11:51:00Z'),
      well('d', 'rostock'),
      offline('e', 'kiel', '2026-11-20T00:00:00Z'),
      ...[well('f', 'kiel'), well('g', 'kiel')],
    ];
    const [site, others, ...rest] = causesOf(hosts);
    assert.deepEqual(
      [site?.title, site?.since, site?.tone],
      ['Site rostock is mostly offline', '2026-11-22T11:50:00Z', 'offline'],
      'the host that has been offline for weeks does not set the age',
    );
    assert.match(site?.detail ?? '', /^3 of 4 hosts/);
    assert.equal(site?.href, '/hosts?condition=offline&filter=site%3Drostock');
    assert.deepEqual([others?.title, others?.detail], ['1 host is offline', 'e']);
    const filter = new URLSearchParams(others?.href.split('?')[1]).get('filter') ?? '';
    assert.deepEqual(
      hosts.filter(hostFilter(filter).matches).map(({ metadata }) => metadata.name),
      ['e', 'f', 'g'],
      'the link leaves out the hosts of the offline site',
    );
    assert.deepEqual(rest, []);
  });

  test('does not call a site with one host offline, or hosts without a site', () => {
    const alone = [offline('a', 'kiel', '2026-11-22T11:00:00Z'), ...[1, 2].map((n) => well(`b${n}`, 'bonn'))];
    assert.deepEqual(
      causesOf(alone).map(({ title }) => title),
      ['1 host is offline'],
    );
    const unlabelled = [1, 2, 3].map((n) =>
      host(`n${n}`, { state: 'Unknown', since: '2026-11-22T11:00:00Z' }),
    );
    assert.deepEqual(
      causesOf(unlabelled).map(({ title, detail }) => [title, detail]),
      [['3 hosts are offline', 'n1, n2, n3']],
    );
  });

  test('groups failing Pods by workload and cause, most hosts first, whatever the reason of the moment', () => {
    const owner = 'DaemonSet/till';
    const pulls = [1, 2, 3, 4, 5].map((n) =>
      failing(`n${n}`, {
        ...{ owner, reason: n % 2 ? 'ErrImagePull' : 'ImagePullBackOff' },
        since: `2026-11-22T11:0${n}:00Z`,
      }),
    );
    const message =
      'container main is in CrashLoopBackOff (back-off 10s restarting failed container=main pod=x_y(z))';
    const crash = failing('n9', { owner, reason: 'CrashLoopBackOff', message });
    const [first, second] = causesOf([crash, ...pulls]);
    assert.equal(first?.title, 'shop/till: image cannot be pulled on 5 hosts');
    assert.equal(first?.detail, 'n1, n2, n3 and 2 more: m');
    assert.equal(first?.since, '2026-11-22T11:01:00Z');
    assert.equal(first?.href, `/hosts?cause=${encodeURIComponent('shop/till image cannot be pulled')}`);
    assert.equal(second?.title, 'shop/till: container keeps failing on 1 host');
    assert.equal(second?.detail, 'n9: container main is in CrashLoopBackOff');
  });

  test('orders failed rollouts, sites, Pods, hosts, waiting rollouts, jobs, joins, then the rest', () => {
    const hosts = [
      failing('a', { owner: 'DaemonSet/till' }),
      host('b', { state: 'NotReady', since: '2026-11-22T11:00:00Z' }),
      host('c', { pressures: ['DiskPressure'] }),
      host('d', { agentVersion: 'v0.9.0' }),
    ];
    const rollouts = [rollout('radio', { phase: 'AwaitingApproval' }), rollout('till', { phase: 'Failed' })];
    assert.deepEqual(
      causesOf(hosts, { rollouts, jobs: [waitingJob('flash')], pendingJoins: 2 }).map(
        ({ title, tone }) => `${tone}: ${title}`,
      ),
      [
        'failed: Rollout of till: failed',
        'failed: shop/till: container keeps failing on 1 host',
        'failed: 1 host is not ready',
        'waiting: Rollout of radio: waiting for approval',
        'waiting: Job flash: waiting for approval',
        'waiting: 2 hosts wait for approval to join',
        'waiting: 1 host under disk pressure',
        'over: 1 host with another version than the coordinator',
      ],
    );
  });

  test('has one item for failing hosts whose Pods the user may not see', () => {
    const pods = { total: 4, ready: 0, failing: 4 };
    const hosts = [host('a', { pods }), host('b', { pods }), failing('c', { owner: 'DaemonSet/till' })];
    assert.deepEqual(
      causesOf(hosts).map(({ title, detail, href }) => [title, detail, href]),
      [
        [
          'shop/till: container keeps failing on 1 host',
          'c: m',
          '/hosts?cause=shop%2Ftill%20container%20keeps%20failing',
        ],
        [
          '2 hosts have failing Pods that you may not see',
          'a, b',
          '/hosts?cause=failing%20Pods%20that%20you%20may%20not%20see',
        ],
      ],
    );
  });

  test('dates a rollout by its condition Stalled, else by its end', () => {
    const conditions = [{ type: 'Stalled', status: 'True', lastTransitionTime: '2026-11-22T11:30:00Z' }];
    const since = (status: Partial<RolloutStatus>) =>
      causesOf([], { rollouts: [rollout('x', status)] })[0]?.since;
    assert.equal(
      since({ phase: 'AwaitingApproval', conditions } as Partial<RolloutStatus>),
      '2026-11-22T11:30:00Z',
    );
    assert.equal(since({ phase: 'Failed', endTime: '2026-11-22T11:40:00Z' }), '2026-11-22T11:40:00Z');
    assert.equal(since({ phase: 'Paused' }), '2026-11-22T11:00:00Z');
  });

  test('a link to a cause selects the hosts with it', () => {
    const pod: FailingPod = {
      namespace: 'shop',
      name: 'p',
      message: '',
      reason: 'Evicted',
      owner: 'DaemonSet/till',
    };
    const { id } = failingCause(pod);
    assert.deepEqual(causesOfHost(failing('a', pod)), [id]);
    assert.ok(!causesOfHost(failing('a', { ...pod, reason: 'Error' })).includes(id));
    const away = failing('a', pod);
    assert.deepEqual(causesOfHost({ ...away, status: { ...away.status, state: 'Unknown' } }), []);
    assert.equal(failingCause({ namespace: 'shop', name: 'p', message: '', reason: 'Odd' }).id, 'shop/p Odd');
  });

  for (const [phase, isOver, expected] of [
    ['Failed', false, ['abort', 'retry']],
    ['Paused', false, ['resume']],
    ['Progressing', false, []],
    ['AwaitingApproval', false, ['approve', 'abort']],
    ['Superseded', true, []],
  ] as const) {
    test(`offers ${expected.join(' and ') || 'nothing'} for a rollout in phase ${phase}`, () =>
      assert.deepEqual([isRolloutOver(phase), primaryVerbs(phase)], [isOver, expected]));
  }
});

describe('the sentence of the start page', () => {
  const sentence = (hosts: readonly Host[], rollouts: readonly Rollout[] = [], jobs = 0) =>
    fleetSentence(countHealth(hosts), summariseSites(hosts, 'site'), rollouts, jobs);
  const rostock = [1, 2].map((n) => offline(`n${n}`, 'rostock', '2026-11-22T11:00:00Z'));
  for (const [what, shown, tone, word] of [
    ['no hosts', sentence([]), 'ok', 'No hosts yet.'],
    ['one host', sentence([host('a')]), 'ok', 'The host is healthy.'],
    [
      'maintenance',
      sentence([host('a'), host('b', { unschedulable: true })]),
      'ok',
      '1 of 2 hosts is healthy, 1 is cordoned.',
    ],
    [
      'maintenance of all hosts',
      sentence(['a', 'b'].map((name) => host(name, { unschedulable: true }))),
      'ok',
      'All 2 hosts are cordoned.',
    ],
    [
      'maintenance of one host',
      sentence([host('a', { unschedulable: true })]),
      'ok',
      'The host is cordoned.',
    ],
    ['a job that waits', sentence([host('a')], [], 1), 'waiting', '1 job waits for you.'],
    ['an offline site', sentence(rostock), 'offline', '2 hosts are offline (rostock: 2 of 2).'],
    [
      'two offline sites',
      sentence([...rostock, ...[1, 2].map((n) => offline(`m${n}`, 'kiel', '2026-11-22T11:00:00Z'))]),
      'offline',
      '4 hosts are offline (kiel: 2 of 2, and 1 more site).',
    ],
    [
      'several problems',
      sentence(
        [failing('a', {}), host('b', { state: 'NotReady' }), host('c', { pressures: ['DiskPressure'] })],
        [rollout('x', { phase: 'Failed' }), rollout('y', { phase: 'Paused' })],
      ),
      'failed',
      '1 rollout failed, 1 host has failing Pods, 1 host is not ready, 1 rollout waits for you and 1 host is under pressure.',
    ],
  ] as const) {
    test(`of ${what}`, () => assert.deepEqual(shown, { tone, word }));
  }
});

describe('the table of sites', () => {
  test('the label is the chosen one, else a usual one, else none', () => {
    assert.equal(siteLabelOf(['hardware', 'region', 'site'], null), 'site');
    assert.equal(siteLabelOf(['hardware', 'site'], 'hardware'), 'hardware');
    assert.equal(siteLabelOf(['site'], 'gone'), 'site');
    assert.equal(siteLabelOf(['hardware'], null), undefined);
  });

  test('counts hosts and versions, sites with most problems first, hosts without the label last', () => {
    const hosts = [
      well('a', 'site-10'),
      well('b', 'site-2'),
      host('c', { agentVersion: 'v0.9.0' }, { site: 'site-2' }),
      host('d'),
      failing('e', {}, { site: 'kiel' }),
      offline('f', 'kiel', '2026-11-22T11:00:00Z'),
    ];
    const sites = summariseSites(hosts, 'site');
    assert.deepEqual(
      sites.map(({ site, total }) => [site, total]),
      [
        ['kiel', 2],
        ['site-2', 2],
        ['site-10', 1],
        [undefined, 1],
      ],
    );
    assert.deepEqual(sites[0]?.counts, { failing: 1, offline: 1 });
    assert.equal(sites[0]?.offlineSince, undefined, 'one of two hosts is not a site');
    assert.deepEqual(sites[1]?.agents, [
      { version: 'v0.9.0', count: 1 },
      { version: 'v1.0.0', count: 1 },
    ]);
  });
});

describe('the next windows', () => {
  const span = (from: string, to: string, may: CalendarSpan['may']): CalendarSpan => ({
    ...{ from: `2026-11-22T${from}:00Z`, to: `2026-11-22T${to}:00Z`, may },
  });
  const calendar = (name: string, zones: ChangeCalendar['zones'], held?: 'paused') =>
    ({ policy: { namespace: 'shop', name }, zones, ...(held ? { held } : {}) }) as ChangeCalendar;
  const day = [span('00:00', '11:00', 'create'), span('14:00', '15:00', 'replace')];

  test('open windows come first, then the next ones, then those that never open', () => {
    const calendars = [
      calendar('paused', [{ zones: [], hosts: 1, spans: day }], 'paused'),
      calendar('late', [{ zones: ['Europe/Berlin'], hosts: 2, spans: day }]),
      calendar('now', [
        { zones: [], hosts: 3, spans: [span('11:00', '13:00', 'replace')] },
        { zones: ['Asia/Tokyo'], hosts: 0, spans: day },
      ]),
    ];
    const sites = new Map([['Europe/Berlin', new Set(['kiel', 'bonn'])]]);
    assert.deepEqual(
      windows.upcomingWindows(calendars, sites, NOW).map(({ policy, state, at, sites: names }) => ({
        ...{ policy, state, at, names },
      })),
      [
        { policy: 'shop/now', state: 'open', at: '2026-11-22T13:00:00Z', names: [] },
        { policy: 'shop/late', state: 'opens', at: '2026-11-22T14:00:00Z', names: ['bonn', 'kiel'] },
        { policy: 'shop/paused', state: 'never', at: undefined, names: [] },
      ],
    );
  });

  test('the list says how many windows and policies it leaves out', () => {
    const cases: [windows: number, policies: number, text: string][] = [
      [0, 0, ''],
      [1, 0, 'Not shown: 1 more window.'],
      [0, 1, 'Not shown: the windows of 1 more policy.'],
      [3, 2, 'Not shown: 3 more windows and the windows of 2 more policies.'],
    ];
    for (const [more, policies, text] of cases) assert.equal(windows.omittedText(more, policies), text);
  });

  test('the sites of a time zone come from the labels that the policies name', () => {
    const policy = { spec: { windows: [{ timeZoneLabel: 'tz' }] } } as unknown as RolloutPolicy;
    assert.deepEqual(windows.timeZoneLabels([policy, { spec: {} } as RolloutPolicy]), ['tz']);
    assert.deepEqual([policy, { spec: {} } as RolloutPolicy].map(windows.hasSchedule), [true, false]);
    const hosts = [
      host('a', {}, { site: 'kiel', tz: 'Europe.Berlin' }),
      host('b', {}, { tz: 'Europe.Berlin' }),
    ];
    assert.deepEqual(
      [...windows.sitesByZone(hosts, 'site', ['tz'])].map(([zone, sites]) => [zone, [...sites]]),
      [['Europe/Berlin', ['kiel']]],
    );
  });
});

describe('the availability of hosts', () => {
  const share = (observedSeconds: number, readySeconds: number) => ({ observedSeconds, readySeconds });
  test('is rounded down, so that only a fleet without an outage has 100%', () => {
    const cases: [observed: number, ready: number, text: string | undefined][] = [
      [0, 0, undefined],
      [86_400, 86_400, '100%'],
      [86_400_000, 86_399_999, '99.99%'],
      [86_400, 86_000, '99.53%'],
      [1_000, 989, '98.9%'],
      [3_600, 0, '0%'],
    ];
    for (const [observed, ready, text] of cases) assert.equal(shareText(share(observed, ready)), text);
  });

  const week = {
    ...{ day: share(82_800, 79_200), week: share(10 * 3600, 9 * 3600) },
    outages: [
      { from: '2026-11-22T02:00:00Z', to: '2026-11-22T03:00:00Z', downSeconds: 600 },
      { from: '2026-11-22T11:00:00Z', downSeconds: 3600 },
    ],
    unknown: [{ from: '2026-11-22T06:00:00Z', to: '2026-11-22T07:00:00Z' }],
  };
  test('of a day is a strip with outages, merged outages and time without a coordinator', () => {
    const spans = stripSpans(week, NOW, 86_400_000);
    const at = (hours: number) => hours / 24;
    assert.deepEqual(spans, [
      { from: 0, to: 1, state: 'ready' },
      { from: at(14), to: at(15), state: 'flapping' },
      { from: at(23), to: 1, state: 'down' },
      { from: at(18), to: at(19), state: 'unknown' },
    ]);
    assert.equal(stripText(week, NOW, 86_400_000), '95.6% ready in the last day, 2 outages');
  });

  test('of a new host is a strip that begins late, and a short outage is still visible', () => {
    const fresh = {
      ...week,
      outages: [{ from: '2026-11-22T11:59:59Z', to: '2026-11-22T12:00:00Z', downSeconds: 1 }],
      unknown: [],
    };
    const [ready, down] = stripSpans(fresh, NOW, 7 * 86_400_000);
    assert.deepEqual(ready, { from: 1 - 10 / 168, to: 1, state: 'ready' });
    assert.ok((down?.to ?? 0) - (down?.from ?? 0) >= 1 / 401);
    assert.equal(stripText(fresh, NOW, 7 * 86_400_000), '90% ready in the last 7 days, 1 outage');
  });

  test('durations have two units', () => {
    const cases = [3, 61, 7_500, 90_000].map(durationText);
    assert.deepEqual(cases, ['3 s', '1 min', '2 h 5 min', '1 d 1 h']);
  });
});

type Notices = Parameters<typeof notices.newNotices>[0];
type Seen = Parameters<typeof notices.newNotices>[1];

describe('notices of new problems', () => {
  const offlineSite = [
    offline('a', 'kiel', '2026-11-22T11:00:00Z'),
    offline('b', 'kiel', '2026-11-22T11:00:00Z'),
  ];
  const waiting = rollout('till', { phase: 'AwaitingApproval', revision: 'r2', wave: 'canary' });
  const keysOf = (hosts: readonly Host[], rollouts: readonly Rollout[]) =>
    notices.noticesOf(causesOf(hosts, { rollouts })).map(({ key }) => key);

  test('are for failed and waiting rollouts and for offline sites, by revision and wave', () => {
    const paused = rollout('other', { phase: 'Paused' });
    assert.deepEqual(keysOf([...offlineSite, failing('c', {})], [waiting, paused]), [
      'site kiel',
      'rollout shop/till AwaitingApproval r2 canary',
    ]);
    const [next] = keysOf(
      [],
      [rollout('till', { phase: 'AwaitingApproval', revision: 'r2', wave: 'tenth' })],
    );
    assert.notEqual(next, keysOf([], [waiting])[0]);
    const [failed] = keysOf([], [rollout('till', { phase: 'Failed', revision: 'r2', wave: 'canary' })]);
    assert.equal(failed, 'rollout shop/till Failed r2 canary');
  });

  test('are given once: not at the beginning, not while a problem lasts, and not when it flaps', () => {
    const [site] = notices.noticesOf(causesOf(offlineSite));
    assert.ok(site);
    const hour = 3_600_000;
    const next = (present: Notices, seen: Seen, now: number) =>
      notices.newNotices(present, seen, now, 'site');
    const first = next([], undefined, NOW);
    assert.deepEqual(next([site], undefined, NOW).fresh, []);
    const second = next([site], first.seen, NOW + 1);
    assert.deepEqual(second.fresh, [site]);
    const lasting = next([site], second.seen, NOW + hour);
    assert.deepEqual(lasting.fresh, []);
    const ended = next([], lasting.seen, NOW + hour + 1);
    const soon = next([site], ended.seen, NOW + hour + notices.SAME_PROBLEM_MS);
    assert.deepEqual(soon.fresh, []);
    const quiet = next([], ended.seen, NOW + hour + 2);
    const later = next([site], quiet.seen, NOW + hour + 1 + notices.SAME_PROBLEM_MS);
    assert.deepEqual(later.fresh, [site]);
  });

  test('that are shown have the present words, until their problems end', () => {
    const [whole] = notices.noticesOf(causesOf(offlineSite));
    const [partly] = notices.noticesOf(causesOf([...offlineSite, failing('c', {}, { site: 'kiel' })]));
    assert.ok(whole && partly);
    assert.deepEqual(
      [partly, whole].map(({ cause }) => cause.title),
      ['Site kiel is mostly offline', 'Site kiel is offline'],
    );
    assert.deepEqual(notices.renewedNotices([partly], [whole]), [whole]);
    assert.deepEqual(notices.renewedNotices([partly], []), []);
  });

  test('are not given for problems of another label of sites or namespace', () => {
    const present = notices.noticesOf(causesOf(offlineSite));
    const first = notices.newNotices([], undefined, NOW, 'site');
    const chosen = notices.newNotices(present, first.seen, NOW + 1, 'region');
    assert.deepEqual(chosen.fresh, []);
    const more = [...present, ...notices.noticesOf(causesOf([], { rollouts: [waiting] }))];
    assert.deepEqual(notices.newNotices(more, chosen.seen, NOW + 2, 'region').fresh, more.slice(1));
  });

  const [site] = notices.noticesOf(causesOf(offlineSite));
  const [approval] = notices.noticesOf(causesOf([], { rollouts: [waiting] }));
  for (const [path, query, shown] of [
    ['/', '', []],
    ['/services', '', [site, approval]],
    ['/rollouts/shop/till', 'tab=activity', [site]],
    ['/hosts', '', [site, approval]],
    ['/hosts', 'condition=offline&filter=site%3Dkiel&columns=cpu', [approval]],
    ['/hosts', 'condition=offline&filter=site%3Dbremen', [site, approval]],
  ] as const) {
    test(`are given on ${path}?${query} for the ${shown.length} problems that it does not show`, () => {
      assert.ok(site && approval);
      const elsewhere = notices.noticesElsewhere([site, approval], path, new URLSearchParams(query));
      assert.deepEqual(elsewhere, shown);
    });
  }
  for (const [phase, is] of [
    ['loading', false],
    ['lost', false],
    ['live', true],
    ['refused', true],
  ] as const) {
    test(`${is ? 'begin' : 'do not begin'} with a list that is ${phase}`, () =>
      assert.equal(notices.isAnswered(phase), is));
  }
});
