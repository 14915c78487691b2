/** What a probe's results come to, and which probes are put when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  afterResult,
  firstState,
  type ProbeState,
  probeEvent,
} from '../../../agent/decisions/probes/probe-state.js';
import { localStateAfterProbe, wantedProbes } from '../../../agent/decisions/probes/wanted-probes.js';
import type { Container } from '../../../shared/kube/pods/pod-types.js';
import type { Probe } from '../../../shared/kube/pods/probe-types.js';
import { attempt, viewOf } from '../../harness/pods/pod-views.js';

const NOW = 1_000_000;
const RESULTS = {
  s: { kind: 'success' },
  w: { kind: 'warning', message: 'hm' },
  f: { kind: 'failure', message: 'no' },
  e: { kind: 'error', message: '?' },
} as const;

/** Outcome after each of the results: `-` none yet, `s` success, `f` failure. */
function outcomes(probe: Probe, results: string): string {
  let state: ProbeState = { nextAt: NOW, run: 0 };
  let text = '';
  for (const letter of results) {
    state = afterResult(probe, state, RESULTS[letter as keyof typeof RESULTS], state.nextAt);
    text += state.outcome?.charAt(0) ?? '-';
  }
  return text;
}

describe('thresholds', () => {
  for (const [it, probe, results, expected] of [
    ['three failures in a row by default', {}, 'fffff', '--fff'],
    ['one success by default', {}, 's', 's'],
    ['a success between begins anew', {}, 'sffsfff', 'ssssssf'],
    ['failureThreshold', { failureThreshold: 1 }, 'sf', 'sf'],
    ['successThreshold', { successThreshold: 2, failureThreshold: 1 }, 'sfsss', '-ffss'],
    ['a warning is a success', {}, 'w', 's'],
    ['an error says nothing', { failureThreshold: 2 }, 'fef', '--f'],
  ] as const) {
    test(it, () => {
      assert.equal(outcomes(probe, results), expected);
    });
  }
});

describe('times', () => {
  const probe = { initialDelaySeconds: 5, periodSeconds: 10 };
  const at = (now: number, known?: 'success') => firstState(probe, NOW, now, known).nextAt - NOW;

  test('first after the initial delay', () => assert.equal(at(NOW), 5000));
  test('at once when that is over', () => assert.equal(at(NOW + 60_000), 60_000));
  test('with a known outcome, in the rhythm', () => assert.equal(at(NOW + 61_000, 'success'), 65_000));
  test('a container younger than a period is asked at once', () =>
    assert.equal(at(NOW + 6000, 'success'), 6000));
  test('every period, counted from when it was due', () => {
    const state = { nextAt: NOW, run: 0 };
    assert.equal(afterResult(probe, state, RESULTS.s, NOW + 900).nextAt, NOW + 10_000);
  });
  test('a late one is put again at once, and what was missed is not made up for', () => {
    const state = { nextAt: NOW, run: 0 };
    assert.equal(afterResult(probe, state, RESULTS.s, NOW + 25_000).nextAt, NOW + 25_000);
  });
});

describe('which probes', () => {
  const tcp = { tcpSocket: { port: 80 } };
  const app: Container = {
    name: 'app',
    image: 'app:1',
    startupProbe: tcp,
    livenessProbe: tcp,
    readinessProbe: tcp,
  };
  const kinds = (changes: Parameters<typeof viewOf>[0]) =>
    wantedProbes(viewOf({ spec: { containers: [app] }, containers: [attempt({})], ...changes })).map(
      ({ kind }) => kind,
    );

  test('the startup probe alone, at first', () => assert.deepEqual(kinds({}), ['startup']));
  test('the others after it', () =>
    assert.deepEqual(kinds({ localStates: { 'app-0': { startedAt: NOW } } }), ['liveness', 'readiness']));
  test('none of an unhealthy container', () =>
    assert.deepEqual(kinds({ localStates: { 'app-0': { unhealthy: 'startup' } } }), []));
  test('none of an ended one', () =>
    assert.deepEqual(
      kinds({ containers: [attempt({ state: 'exited', exitCode: 1, finishedAt: NOW })] }),
      [],
    ));
  test('readiness alone of a Pod that ends', () => {
    const wish = { kind: 'stop', deadline: NOW } as const;
    assert.deepEqual(kinds({ wish, localStates: { 'app-0': { startedAt: NOW } } }), ['readiness']);
    assert.deepEqual(kinds({ wish }), []);
  });
  test('none of a hollow one, which speaks for itself', () =>
    assert.deepEqual(kinds({ containers: [attempt({ ready: true })] }), []));
  test('none while its postStart hook runs', () => {
    const hooked = { ...app, lifecycle: { postStart: { sleep: { seconds: 1 } } } };
    assert.deepEqual(kinds({ spec: { containers: [hooked] } }), []);
  });
});

describe('outcomes', () => {
  test('startup', () => {
    assert.deepEqual(localStateAfterProbe({}, 'startup', 'success', NOW), { startedAt: NOW });
    assert.deepEqual(localStateAfterProbe({}, 'startup', 'failure', NOW), { unhealthy: 'startup' });
  });
  test('liveness', () => {
    assert.deepEqual(localStateAfterProbe({}, 'liveness', 'failure', NOW), { unhealthy: 'liveness' });
  });
  test('readiness keeps the time of the change', () => {
    const ready = localStateAfterProbe({}, 'readiness', 'success', NOW);
    assert.deepEqual(ready, { readiness: { ready: true, at: NOW } });
    assert.equal(localStateAfterProbe(ready, 'readiness', 'success', NOW + 1), ready);
  });
});

test('the words of events', () => {
  assert.equal(probeEvent('liveness', RESULTS.s), undefined);
  assert.deepEqual(probeEvent('readiness', RESULTS.f), {
    type: 'Warning',
    reason: 'Unhealthy',
    message: 'Readiness probe failed: no',
  });
  assert.equal(probeEvent('startup', RESULTS.w)?.reason, 'ProbeWarning');
  assert.equal(
    probeEvent('liveness', RESULTS.e)?.message,
    'Liveness probe errored and resulted in unknown state: ?',
  );
});
