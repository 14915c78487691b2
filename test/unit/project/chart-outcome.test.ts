/** Outcomes of public charts, and their document. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verdictOf } from '../../harness/charts/chart-document.js';
import {
  type ChartOutcome,
  type FailedStep,
  failedOutcome,
  outcomeText,
} from '../../harness/charts/chart-outcome.js';

const REFUSAL = 'Everynode does not support StatefulSets: use a DaemonSet';
const STEP: FailedStep = {
  step: 'install',
  stderr: 'Error: INSTALLATION FAILED: context deadline exceeded\n',
  stored: ['secrets/sh.helm.release.v1.a.v1'],
  pendingClaims: [],
  waitingServices: [],
};
const REFUSED = { stderr: `Error: could not get information: ${REFUSAL}\n`, stored: [] };
const CONFLICT = 'Apply failed with 1 conflict: conflict with "clusterrole-aggregation-controller": .rules';

const OUTCOMES: [what: string, change: Partial<FailedStep>, text: RegExp][] = [
  [
    'a refusal before anything is stored',
    REFUSED,
    /^refused whole: Everynode does not support StatefulSets: use a DaemonSet$/,
  ],
  ['a refusal after something is stored', { ...REFUSED, stored: ['secrets/a'] }, /^install failed: /],
  ['a refusal of a later step', { ...REFUSED, step: 'upgrade' }, /^upgrade failed: /],
  ['a pending claim', { pendingClaims: ['data'] }, /^install waits: claims stay Pending \(data\)$/],
  [
    'a load balancer without address',
    { waitingServices: ['web'] },
    /^install waits: there is no load balancer \(Service web\)$/,
  ],
  [
    'a pending claim next to another error',
    { pendingClaims: ['data'], stderr: 'Error: boom' },
    /^install failed: Error: boom$/,
  ],
  [
    'rules that the aggregation controller owns',
    { step: 'upgrade', stderr: `Error: UPGRADE FAILED: ${CONFLICT}` },
    /^upgrade refused as by Kubernetes: /,
  ],
  [
    'a timeout without a known cause',
    {},
    /^install failed: Error: INSTALLATION FAILED: context deadline exceeded$/,
  ],
];

describe('an outcome', () => {
  for (const [what, change, text] of OUTCOMES) {
    test(`of ${what}`, () => assert.match(outcomeText(failedOutcome({ ...STEP, ...change })), text));
  }
});

const HELMS = ['helm-3', 'helm-4'];
const CASES = ['a', 'a.other'].map((name) => ({ chart: 'a', name, version: '1', path: '/a' }));
const PASSED: ChartOutcome = { kind: 'passed' };
const WAITS: ChartOutcome = { kind: 'waits', step: 'install', claims: ['x'], services: [] };

const VERDICTS: [verdict: string, outcomes: [first: ChartOutcome[], other: ChartOutcome[]]][] = [
  ['passed', [[PASSED, PASSED], []]],
  [
    'passed with other values',
    [
      [PASSED, WAITS],
      [PASSED, PASSED],
    ],
  ],
  [
    'waits',
    [
      [PASSED, WAITS],
      [PASSED, WAITS],
    ],
  ],
  ['not run with every Helm', [[PASSED], [PASSED, PASSED]]],
];

describe('the verdict on a chart', () => {
  for (const [verdict, outcomes] of VERDICTS) {
    test(`is: ${verdict}`, () => {
      const results = outcomes.flatMap((ofCase, at) =>
        ofCase.map((outcome, helm) => ({
          ...{ chart: 'a', version: '1', outcome },
          name: CASES[at]?.name ?? assert.fail(),
          helm: HELMS[helm] ?? assert.fail(),
        })),
      );
      assert.equal(verdictOf(CASES, results, HELMS), verdict);
    });
  }
});
