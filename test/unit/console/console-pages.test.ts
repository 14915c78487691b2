/** What pages keep, protect and state while lists are incomplete. Pages are rendered without a browser. */
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { HostFailure } from '../../../shared/kube/rollouts/rollout-types.js';
import { noonZone } from '../../harness/console/browser.js';
import { consoleModule } from '../../harness/console/console-module.js';
import { closedFor } from '../../harness/console/operator-fleet.js';

/** The used parts of files of the console, as types, because their own need a browser. */
interface Live<T> {
  objects: readonly T[];
  phase: 'loading' | 'live' | 'lost' | 'refused';
}
interface Failed {
  namespace: string;
  daemonSet: string;
  revision: string;
  failures: readonly HostFailure[];
  failed: number;
}
type Navigate = (to: string) => void;

const events = new EventTarget();
Object.assign(globalThis, {
  location: { href: 'https://c/console/hosts', pathname: '/console/hosts', search: '' },
  addEventListener: events.addEventListener.bind(events),
});

const { HostPods } = await consoleModule<{ HostPods: (props: { pods: Live<Pod> }) => null }>(
  'hosts/host-pods.tsx',
);
const { shownPod } =
  await consoleModule<typeof import('../../../console/pods/pod-choice.js')>('pods/pod-choice.ts');
const { podsFact } = await consoleModule<{ podsFact: (pods: Live<Pod>) => string }>(
  'hosts/host-overview.tsx',
);
const { FailedHostLogs } = await consoleModule<{ FailedHostLogs: (props: Failed) => null }>(
  'rollouts/failed-host-logs.tsx',
);
const { keepValue, keptValue, watchHistory } = await consoleModule<{
  keepValue: (name: string, value: unknown) => void;
  keptValue: (name: string) => unknown;
  watchHistory: () => void;
}>('layout/kept-view.ts');
const { askBeforeLeaving, protectEdit } = await consoleModule<{
  askBeforeLeaving: (navigate: Navigate, to: string, options?: object) => void;
  protectEdit: (edit: object) => () => void;
}>('layout/unsaved-edits.ts');
const { FORGOTTEN_MS, watchForgottenTab } = await consoleModule<{
  FORGOTTEN_MS: number;
  watchForgottenTab: (report: (isForgotten: boolean) => void) => () => void;
}>('overview/forgotten-tab.ts');

function pod(name: string): Pod {
  return { metadata: { namespace: 'shop', name }, spec: { containers: [] } } as unknown as Pod;
}

describe('the tabs of a host', () => {
  for (const [phase, shown] of [
    ['loading', /Loading Pods/],
    ['refused', /You are not allowed to list Pods/],
    ['lost', /Pods could not be loaded yet/],
    ['live', /No Pods on this host/],
  ] as const) {
    test(`state about Pods that are ${phase}: ${shown.source}`, () => {
      const html = renderToStaticMarkup(createElement(HostPods, { pods: { objects: [], phase } }));
      assert.match(html, shown);
      assert.equal(html.includes('No Pods on this host'), phase === 'live');
    });
  }
  for (const [phase, count, words] of [
    ['loading', 0, 'loading'],
    ['refused', 0, 'not allowed to list'],
    ['lost', 0, 'loading'],
    ['lost', 2, '2'],
    ['live', 0, '0'],
  ] as const) {
    test(`count ${count} Pods that are ${phase} as "${words}"`, () =>
      assert.equal(podsFact({ objects: Array(count).fill(pod('a')), phase }), words));
  }

  const [first, second] = [pod('a'), pod('b')];
  for (const [what, asked, present, name] of [
    ['the first at the beginning', null, undefined, 'b'],
    ['the same when another becomes the first', null, 'shop/a', 'a'],
    ['the one in the address', 'shop/a', 'shop/b', 'a'],
    ['the first when the shown one was deleted', null, 'shop/old', 'b'],
  ] as const) {
    test(`show the log of a Pod: ${what}`, () =>
      assert.equal(shownPod([second, first], asked, present)?.metadata.name, name));
  }
});

describe('the causes of failures', () => {
  const failures = Array.from({ length: 10 }, (_, index) => ({
    ...{ node: `kiel-${index}`, reason: 'BackOff', time: '2026-03-15T10:00:00Z' },
  }));
  const html = (failed: number) =>
    renderToStaticMarkup(
      createElement(FailedHostLogs, {
        ...{ namespace: 'default', daemonSet: 'till', revision: 'b', failures, failed },
      }),
    );
  test('of 300 hosts are those of the first ten, and read so', () => {
    assert.match(html(300), /Only the first 10 of 300 failed hosts/);
    assert.match(html(300), /BackOff on at least 10 hosts/);
  });
  test('of ten hosts are all', () => {
    assert.match(html(10), /BackOff on 10 hosts/);
    assert.doesNotMatch(html(10), /first 10/);
  });
});

test('Back restores what the page had when it was left, not what it had before it was opened again', () => {
  watchHistory();
  const [link, back] = [() => new Event('pushState'), () => new Event('popstate')];
  events.dispatchEvent(link());
  keepValue('selected', ['a']);
  events.dispatchEvent(back());
  assert.deepEqual(keptValue('selected'), ['a']);
  events.dispatchEvent(link());
  assert.equal(keptValue('selected'), undefined);
  events.dispatchEvent(back());
  assert.equal(keptValue('selected'), undefined);
});

test('an unsaved edit stays protected when only another part of the query changes', (context) => {
  Object.assign(globalThis, { location: { href: 'https://c/console/hosts/a?tab=settings' } });
  const asked = context.mock.fn(() => false);
  Object.assign(globalThis, { confirm: asked });
  const went: string[] = [];
  // The router passes whole paths.
  const go = (to: string) => askBeforeLeaving((there: string) => went.push(there), to);
  const end = protectEdit({});
  go('/console/hosts/a?tab=settings&time=host');
  assert.deepEqual([went, asked.mock.callCount()], [['/console/hosts/a?tab=settings&time=host'], 0]);
  for (const to of ['/console/hosts/a?tab=events', '/console/hosts/b?tab=settings']) go(to);
  assert.deepEqual([went.length, asked.mock.callCount()], [1, 2], 'other tabs and pages ask');
  end();
  go('/console/');
  assert.deepEqual([went.length, asked.mock.callCount()], [2, 2]);
});

test('a tab that is hidden for very long is forgotten until it is shown', () => {
  const tab = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(globalThis, { document: tab });
  mock.timers.enable({ apis: ['setTimeout'] });
  const reports: boolean[] = [];
  const show = (isShown: boolean) => {
    tab.hidden = !isShown;
    tab.dispatchEvent(new Event('visibilitychange'));
  };
  const stop = watchForgottenTab((isForgotten) => reports.push(isForgotten));
  try {
    show(false);
    mock.timers.tick(FORGOTTEN_MS - 1);
    assert.deepEqual(reports, [false]);
    mock.timers.tick(1);
    assert.deepEqual(reports, [false, true]);
    show(true);
    assert.deepEqual(reports, [false, true, false]);
    show(false);
    stop();
    mock.timers.tick(FORGOTTEN_MS);
    assert.deepEqual(reports, [false, true, false]);
  } finally {
    mock.timers.reset();
  }
});

for (const hour of [0, 2, 11, 12, 13, 23]) {
  test(`browser tests at ${hour}:59 UTC have noon, and a window that is closed for ten hours`, () => {
    const now = new Date(Date.UTC(2026, 2, 15, hour, 59));
    const hourIn = (timeZone: string) =>
      Number(new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(now));
    assert.equal(hourIn(noonZone(now)), 12);
    assert.equal((closedFor(now) - hourIn('Europe/Berlin') + 24) % 24, 12);
  });
}
