/** That each rule on values of hosts can be broken, and says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { HOST_VALUES_ANNOTATION } from '../../../shared/kube/host-values/rendered-values.js';
import { after, daemonSet } from '../cases/case-builders.js';
import type { Step, UserStep } from '../histories/history.js';
import type { Sabotage } from '../machines/simulated-world.js';
import { Availability } from '../rules/daemonset-availability.js';
import { valueRules } from '../rules/value-rules.js';
import { WaveHistory } from '../rules/wave-rules.js';
import { type Proof, violationOf } from './sabotage-proof.js';
import { reading, seeing } from './sabotages.js';

interface RuleProof extends Proof {
  rule: RegExp;
}

const setValues = (object: string, key: 'store' | 'spare'): UserStep => ({
  ...{ kind: 'set values', object, priority: 0, zone: null, nodes: [], key, value: 'v1' },
});
const USE: UserStep = { kind: 'use values', name: 'alpha', uses: ['store'] };
const STARTED: Step[] = [
  after(1, setValues('defaults', 'store')),
  after(1, daemonSet('app:1')),
  after(1, USE),
  after(60, { kind: 'wait' }),
];

/** Makes the controller look at all hosts again. */
const NUDGE = after(5, {
  ...{ kind: 'set strategy', name: 'alpha' },
  strategy: { type: 'RollingUpdate', maxUnavailable: 2 },
});

/** Makes the coordinator find a store in the object `rivals`, where none is. */
const inventing: Sabotage = {
  wrapCore: seeing(
    ({ informers }) => informers.hostValues,
    (each) =>
      each.metadata.name === 'rivals'
        ? { ...each, spec: { priority: 10, values: { store: 'made up' } } }
        : each,
  ),
};

const PROOFS: RuleProof[] = [
  {
    what: 'a coordinator that reads a value that is not there',
    rule: /a Pod is made with the values that its host has then.* = made up/,
    steps: [
      after(1, setValues('defaults', 'store')),
      after(1, setValues('rivals', 'spare')),
      after(10, daemonSet('app:1')),
      after(10, USE),
    ],
    sabotage: inventing,
  },
  {
    what: 'an agent that renders other values than those of the Pod',
    rule: /no container runs with another host's values/,
    steps: STARTED,
    breaking: reading((pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        annotations: {
          ...pod.metadata.annotations,
          [HOST_VALUES_ANNOTATION]: JSON.stringify({ "hostValues['store']": 'v1 of host-9' }),
        },
      },
    })),
  },
  {
    what: 'a rollout of values that no Pod uses',
    rule: /a rollout replaces no Pod whose template and values are those of now/,
    steps: [...STARTED, after(1, setValues('rivals', 'spare')), NUDGE],
    sabotage: inventing,
  },
  {
    what: 'a rollout to a host that lacks its value',
    rule: /a host whose value is missing or contradictory keeps its Pod/,
    steps: [
      ...STARTED,
      after(1, setValues('defaults', 'spare')),
      after(60, setValues('rivals', 'spare')),
      NUDGE,
    ],
    sabotage: inventing,
  },
];

describe('rules on values of hosts find', () => {
  const shown = new Set<string>();
  const rules = valueRules(new Availability(), new WaveHistory()).flatMap(({ rule }) =>
    rule === '' ? [] : rule,
  );
  for (const { rule, ...proof } of PROOFS)
    test(proof.what, async () => {
      const violation = await violationOf(proof);
      assert.match(violation, rule);
      for (const each of rules) if (violation.startsWith(each)) shown.add(each);
    });

  test('a fault for every rule on values of hosts', () => {
    assert.deepEqual(
      rules.filter((rule) => !shown.has(rule)),
      [],
    );
  });
});
