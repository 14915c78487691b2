/** Logic of the console: offered actions, problems, URL state, and concurrency. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { signInErrorText } from '../../../shared/kube/access/sign-in-errors.js';
import type { Host, HostStatus } from '../../../shared/kube/fleet/host-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

const pairs =
  await consoleModule<typeof import('../../../console/layout/text/diff-rows.js')>('layout/text/diff-rows.ts');
const zones = await consoleModule<typeof import('../../../console/layout/time/host-time-zone.js')>(
  'layout/time/host-time-zone.ts',
);
const { rulesAllow: allows } =
  await consoleModule<typeof import('../../../console/api/access-rules.js')>('api/access-rules.ts');
const attention =
  await consoleModule<typeof import('../../../console/fleet/host-issues.js')>('fleet/host-issues.ts');
const columns = await consoleModule<typeof import('../../../console/fleet/table/host-columns.js')>(
  'fleet/table/host-columns.ts',
);
const bulk =
  await consoleModule<typeof import('../../../console/fleet/bulk/bulk-run.js')>('fleet/bulk/bulk-run.ts');
const actions = await consoleModule<typeof import('../../../console/fleet/bulk/bulk-actions.js')>(
  'fleet/bulk/bulk-actions.ts',
);
const drafts =
  await consoleModule<typeof import('../../../console/hosts/node-draft.js')>('hosts/node-draft.ts');
const palette =
  await consoleModule<typeof import('../../../console/palette/palette-items.js')>('palette/palette-items.ts');

describe('the side-by-side diff', () => {
  const { diffRows: pairedLines } = pairs;
  test('a removed line is paired with the line that replaced it, and alone without a replacement', () => {
    assert.deepEqual(pairedLines([' a', '-b', '-c', '+d', ' e', '+f', '\\ No newline']), [
      { before: 'a', after: 'a', isSame: true },
      { before: 'b', after: 'd', isSame: false },
      { before: 'c', isSame: false },
      { before: 'e', after: 'e', isSame: true },
      { after: 'f', isSame: false },
    ]);
  });
});

describe('the state of a host', () => {
  const TABLE: [labels: Record<string, string> | undefined, zone: string | undefined][] = [
    [undefined, undefined],
    [{ tz: 'Europe.Berlin' }, 'Europe/Berlin'],
    [{ rack: 'A.1', zone: 'America.Argentina.Salta' }, 'America/Argentina/Salta'],
    [{ a: 'Not.Anywhere', b: 'Asia.Tokyo' }, 'Asia/Tokyo'],
    [{ country: 'Cuba', site: 'kiel' }, undefined],
  ];
  for (const [labels, zone] of TABLE) {
    test(`${JSON.stringify(labels)}: ${zone}`, () => assert.equal(zones.hostTimeZone(labels), zone));
  }
});

describe('rights', () => {
  const rule = (verbs: string[], apiGroups: string[], resources: string[], resourceNames?: string[]) => ({
    ...{ verbs, apiGroups, resources },
    ...(resourceNames ? { resourceNames } : {}),
  });
  const WISH = { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'default' };
  const TABLE: [what: string, rules: ReturnType<typeof rule>[], expected: boolean][] = [
    ['nothing', [], false],
    ['everything', [rule(['*'], ['*'], ['*'])], true],
    ['the exact verb and resource', [rule(['create'], [''], ['pods/eviction'])], true],
    ['the resource without its subresource', [rule(['create'], [''], ['pods'])], false],
    ['the subresource of all resources', [rule(['create'], [''], ['*/eviction'])], true],
    ['another verb', [rule(['get'], [''], ['pods/eviction'])], false],
    ['another group', [rule(['create'], ['apps'], ['pods/eviction'])], false],
    ['a single resource name', [rule(['create'], [''], ['pods/eviction'], ['web'])], false],
  ];
  for (const [what, rules, expected] of TABLE) {
    test(`with ${what} an eviction is ${expected ? '' : 'not '}offered`, () =>
      assert.equal(allows(rules, WISH), expected));
  }
});

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

describe('problems that need attention', () => {
  const now = Date.parse('2026-11-22T00:00:00Z');
  const rollout = (phase: string) => ({ status: { phase } }) as Rollout;
  test('each problem is shown, and a host may have several', () => {
    const TABLE: [status: Partial<HostStatus>, expected: string[]][] = [
      [{}, []],
      [{ state: 'Unknown', certificateEnds: '2026-11-30T00:00:00Z' }, ['certificates']],
      [{ pressures: ['DiskPressure', 'MemoryPressure'] }, ['disk', 'pressure']],
      [{ agentVersion: 'v0.9.0', certificateEnds: '2027-11-30T00:00:00Z' }, ['skew']],
      [{ agentVersion: '' }, []],
      [{ clockSkew: 'an hour ahead' }, ['clock']],
    ];
    for (const [status, expected] of TABLE)
      assert.deepEqual(attention.issuesOf(host('n', status), { now, version: 'v1.0.0' }), expected);
  });
  test('rollouts that wait for an approval are shown', () => {
    const rollouts = [rollout('Failed'), rollout('Progressing'), rollout('AwaitingApproval')];
    assert.equal(attention.stalledRollouts(rollouts).length, 2);
  });
  test('the version is read from the API, and no skew is shown without a version', () => {
    assert.equal(attention.coordinatorVersion('v1.35.0+everynode.0.1.0-rc.1'), 'v0.1.0-rc.1');
    assert.equal(attention.coordinatorVersion('v1.35.0'), '');
    assert.deepEqual(attention.issuesOf(host('n'), { now, version: '' }), []);
  });
});

describe('the table state in the URL', () => {
  test('columns are named, including labels; the name column is always present and unknown columns are dropped', () => {
    const ids = (text: string | null) => columns.parseColumns(text).map(({ id }) => id);
    assert.deepEqual(ids(null), ['name', 'condition', 'since', 'pods', 'issue']);
    assert.deepEqual(ids('version,label:site,nonsense'), ['name', 'version', 'label:site']);
    assert.equal(columns.columnsText(columns.parseColumns(null)), '');
    assert.equal(columns.columnsText(columns.parseColumns('label:site')), 'name,label:site');
  });
  test('a click sorts by a column, another click reverses the order', () => {
    const first = columns.toggledSort(columns.parseSort(null), 'name');
    assert.equal(first, 'name');
    assert.equal(columns.toggledSort(columns.parseSort(first), 'name'), '-name');
    assert.equal(columns.toggledSort(columns.parseSort('-name'), 'name'), 'name');
  });
});

describe('a bulk action on hosts', () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  const none = () => undefined;
  test('failures are listed separately, and changes can be undone', async () => {
    const states: { done: number; failed: readonly unknown[]; isOver: boolean }[] = [];
    const act = async (name: string) => {
      if (name === 'n3') throw new Error('no');
      return `undo ${name}`;
    };
    const { signal } = new AbortController();
    const undos = await bulk.runBulk({
      names,
      act,
      retryDelay: none,
      signal,
      onProgress: (each) => states.push(each),
    });
    assert.equal(undos.length, 19);
    assert.ok(undos.every(({ name, undo }) => undo === `undo ${name}`));
    assert.deepEqual(states.at(-1), {
      ...{ total: 20, done: 19, failed: [{ name: 'n3', problem: 'no' }], isOver: true },
    });
  });
  test('concurrency is limited, and a host whose request is throttled waits', async () => {
    let running = 0;
    let most = 0;
    const tries = new Map<string, number>();
    const waits: number[] = [];
    const act = async (name: string) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      const count = (tries.get(name) ?? 0) + 1;
      tries.set(name, count);
      if (count < 3) throw new Error('busy');
    };
    const wait = async (ms: number) => void waits.push(ms);
    const { signal } = new AbortController();
    const undos = await bulk.runBulk({
      names,
      act,
      retryDelay: () => 7,
      signal,
      onProgress: none,
      atOnce: 4,
      wait,
    });
    assert.equal(undos.length, 20);
    assert.equal(most, 4);
    assert.deepEqual(
      waits,
      Array.from({ length: 40 }, () => 7),
    );
  });
  test('hosts that were not started before a stop are skipped', async () => {
    const leave = new AbortController();
    const act = async (name: string) => {
      if (name === 'n4') leave.abort();
    };
    const undos = await bulk.runBulk({
      ...{ names, act, retryDelay: none, onProgress: none, signal: leave.signal, atOnce: 1 },
    });
    assert.equal(undos.length, 5);
  });
});

describe('input for a bulk action', () => {
  const change = (id: string, text: string) =>
    actions.NODE_ACTIONS.find((action) => action.id === id)?.change?.(text);
  const TABLE: [id: string, text: string, expected: object | undefined][] = [
    ['label', 'site=kiel', { labels: { site: 'kiel' } }],
    ['label', 'gpu=', { labels: { gpu: '' } }],
    ['label', 'gpu', undefined],
    ['label', 'site-', { labels: { site: null } }],
    ['label', 'a.b/site-', { labels: { 'a.b/site': null } }],
    ['label', 'ti-me=x', { labels: { 'ti-me': 'x' } }],
    ['label', 'no label', undefined],
    ['label', '', undefined],
    ['taint', 'x=y:NoSchedule', { taints: { add: [{ key: 'x', value: 'y', effect: 'NoSchedule' }] } }],
    ['taint', 'x:NoExecute-', { taints: { remove: [{ key: 'x', effect: 'NoExecute' }] } }],
    ['taint', 'x', undefined],
  ];
  for (const [id, text, expected] of TABLE) {
    test(`${id} "${text}"`, () => assert.deepEqual(change(id, text), expected));
  }
});

describe('edited labels and taints', () => {
  const node: Node = {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { site: 'kiel', os: 'linux' } } },
    spec: { taints: [{ key: 'old', value: '1', effect: 'NoSchedule' }] },
  };
  test('a value that is already set is not written', () => {
    const there = drafts.withLabel(drafts.NO_DRAFT, node, 'site', 'bremen');
    assert.deepEqual(drafts.changeOfDraft(there), { labels: { site: 'bremen' } });
    assert.equal(drafts.changeOfDraft(drafts.withLabel(there, node, 'site', 'kiel')), undefined);
    const tainted = drafts.withTaint(drafts.NO_DRAFT, node, { key: 'old', value: '1', effect: 'NoSchedule' });
    assert.equal(drafts.changeOfDraft(tainted), undefined);
  });
  test('adding and removing the same new taint is no change, and neither is adding a present one', () => {
    const taint = { key: 'new', effect: 'NoExecute' as const };
    const added = drafts.withTaint(drafts.NO_DRAFT, node, taint);
    assert.equal(drafts.changeOfDraft(drafts.withoutTaint(added, node, taint)), undefined);
    const removed = drafts.withoutTaint(drafts.NO_DRAFT, node, { key: 'old', effect: 'NoSchedule' });
    assert.deepEqual(drafts.changeOfDraft(removed), {
      taints: { add: [], remove: [{ key: 'old', effect: 'NoSchedule' }] },
    });
  });
  test('rows show which labels stay, appear, change and disappear; the commands match them', () => {
    let draft = drafts.withLabel(drafts.NO_DRAFT, node, 'site', null);
    draft = drafts.withLabel(draft, node, 'rack', '7');
    draft = drafts.withLabel(draft, node, 'os', 'bsd');
    assert.deepEqual(
      drafts.labelRows(node, draft).map(({ text, state }) => `${text} ${state}`),
      ['os=bsd changed', 'rack=7 new', 'site=kiel removed'],
    );
    assert.deepEqual(drafts.commandsOf('n', draft), ['kubectl label node n --overwrite site- rack=7 os=bsd']);
  });
});

describe('the command palette', () => {
  const object = (namespace: string, name: string) => ({
    ...{ apiVersion: 'v1', kind: 'X', metadata: { namespace, name } },
  });
  const objects = {
    daemonSets: [object('default', 'till')],
    rollouts: [object('default', 'till')],
    services: [object('default', 'printer')],
    ...{ daemonJobs: [], cronDaemonJobs: [], hostValues: [] },
    maySignOut: true,
  };
  const texts = (typed: string) =>
    palette.paletteItems(typed, objects).map((item) => ('go' in item ? item.go : item.id));
  test('it finds pages, DaemonSets, rollouts and Services, and prefix matches come first', () => {
    assert.equal(texts('act')[0], '/audit');
    assert.deepEqual(texts('till').slice(0, 2), ['/daemonsets/default/till', '/rollouts/default/till']);
    assert.equal(texts('printer')[0], '/services/default/printer');
  });
  test('signing out is offered only when a session exists', () => {
    assert.deepEqual(texts('sign out')[0], 'sign-out');
    const items = palette.paletteItems('sign out', { ...objects, maySignOut: false });
    assert.ok(!items.some(({ id }) => id === 'sign-out'));
  });
  test('typed text may match a host or a filter of hosts', () => {
    assert.ok(texts('node-7').includes('/hosts/node-7'));
    assert.ok(texts('site=kiel').includes('/hosts?filter=site%3Dkiel'));
    assert.ok(!texts('site=kiel').some((path) => path.startsWith('/hosts/')));
  });
});

test('the sign-in page shows no text from its address', () => {
  assert.equal(signInErrorText(null), '');
  assert.match(signInErrorText('Issuer'), /^Sign-in failed: the issuer rejected the sign-in/);
  for (const word of ['call 555-1234', 'toString', '']) {
    assert.equal(signInErrorText(word), 'Sign-in failed.');
  }
});
