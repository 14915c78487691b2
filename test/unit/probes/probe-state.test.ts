/** The result of repeated probes, and the schedule of probes. */
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

/** Returns the outcome after each result: `-` none yet, `s` success, `f` failure. */
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
    ['the default failure threshold is three in a row', {}, 'fffff', '--fff'],
    ['the default success threshold is one', {}, 's', 's'],
    ['a success in between resets the failures', {}, 'sffsfff', 'ssssssf'],
    ['failureThreshold', { failureThreshold: 1 }, 'sf', 'sf'],
    ['successThreshold', { successThreshold: 2, failureThreshold: 1 }, 'sfsss', '-ffss'],
    ['a warning counts as a success', {}, 'w', 's'],
    ['an error does not change the result', { failureThreshold: 2 }, 'fef', '--f'],
  ] as const) {
    test(it, () => {
      assert.equal(outcomes(probe, results), expected);
    });
  }
});

describe('times', () => {
  const probe = { initialDelaySeconds: 5, periodSeconds: 10 };
  const at = (now: number, known?: 'success') => firstState(probe, NOW, now, known).nextAt - NOW;

  test('the first probe runs after the initial delay', () => assert.equal(at(NOW), 5000));
  test('the first probe runs at once when the initial delay is over', () =>
    assert.equal(at(NOW + 60_000), 60_000));
  test('with a known outcome the probe keeps its period', () =>
    assert.equal(at(NOW + 61_000, 'success'), 65_000));
  test('a container younger than a period is probed at once', () =>
    assert.equal(at(NOW + 6000, 'success'), 6000));
  test('a probe runs every period, counted from when it was due', () => {
    const state = { nextAt: NOW, run: 0 };
    assert.equal(afterResult(probe, state, RESULTS.s, NOW + 900).nextAt, NOW + 10_000);
  });
  test('a late probe runs at once, and missed ones are not made up for', () => {
    const state = { nextAt: NOW, run: 0 };
    assert.equal(afterResult(probe, state, RESULTS.s, NOW + 25_000).nextAt, NOW + 25_000);
  });
});

describe('the set of probes', () => {
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

  test('the startup probe runs alone at first', () => assert.deepEqual(kinds({}), ['startup']));
  test('the other probes run after the startup probe', () =>
    assert.deepEqual(kinds({ localStates: { 'app-0': { startedAt: NOW } } }), ['liveness', 'readiness']));
  test('no probe of an unhealthy container', () =>
    assert.deepEqual(kinds({ localStates: { 'app-0': { unhealthy: 'startup' } } }), []));
  test('no probe of an exited container', () =>
    assert.deepEqual(
      kinds({ containers: [attempt({ state: 'exited', exitCode: 1, finishedAt: NOW })] }),
      [],
    ));
  test('only the readiness probe of a terminating Pod', () => {
    const wish = { kind: 'stop', deadline: NOW } as const;
    assert.deepEqual(kinds({ wish, localStates: { 'app-0': { startedAt: NOW } } }), ['readiness']);
    assert.deepEqual(kinds({ wish }), []);
  });
  test('no probe of a hollow container, which sets its own result', () =>
    assert.deepEqual(kinds({ containers: [attempt({ ready: true })] }), []));
  test('no probe while the postStart hook runs', () => {
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
  test('readiness keeps its transition time', () => {
    const ready = localStateAfterProbe({}, 'readiness', 'success', NOW);
    assert.deepEqual(ready, { readiness: { ready: true, at: NOW } });
    assert.equal(localStateAfterProbe(ready, 'readiness', 'success', NOW + 1), ready);
  });
});

test('messages of Events', () => {
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
