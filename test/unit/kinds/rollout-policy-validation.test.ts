import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateRolloutPolicy } from '../../../coordinator/kinds/rollouts/rolloutpolicy-validation.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';

const WINDOW = { schedule: '0 3 * * *', durationSeconds: 3600 };

/** A part of a spec, and the field and message of its rejection. */
const CASES: [Partial<RolloutPolicySpec>, string?, RegExp?][] = [
  [{ windows: [WINDOW, { ...WINDOW, timeZone: 'Europe/Berlin' }, { ...WINDOW, timeZoneLabel: 'tz' }] }],
  [{ windows: [{ ...WINDOW, schedule: '@daily' }] }],
  [
    { windows: [WINDOW, { ...WINDOW, schedule: '0 25 * * *' }] },
    'spec.windows[1].schedule',
    /not a valid cron pattern: hour/,
  ],
  [{ windows: [{ ...WINDOW, schedule: '30 0 3 * * *' }] }, 'spec.windows[0].schedule', /five fields/],
  [{ windows: [{ ...WINDOW, schedule: '' }] }, 'spec.windows[0].schedule', /Required/],
  [{ windows: [{ ...WINDOW, durationSeconds: 0 }] }, 'spec.windows[0].durationSeconds', /between 1/],
  [
    { windows: [{ ...WINDOW, durationSeconds: 32 * 86_400 }] },
    'spec.windows[0].durationSeconds',
    /greater than/,
  ],
  [
    { windows: [{ ...WINDOW, timeZone: 'Europe/Bonn' }] },
    'spec.windows[0].timeZone',
    /Europe\/Bonn.*time zone/,
  ],
  [{ windows: [{ ...WINDOW, timeZone: '+01:00' }] }, 'spec.windows[0].timeZone', /time zone/],
  [{ windows: [{ ...WINDOW, timeZoneLabel: 'a b' }] }, 'spec.windows[0].timeZoneLabel', /./],
  [{ freezes: [{ from: '2026-12-18', to: '2027-01-07T06:00', reason: 'Christmas' }] }],
  [{ freezes: [{ from: '2026-12-18T00:00:00+01:00', to: '2026-12-18T00:00:00Z' }] }],
  [{ freezes: [{ from: '18.12.2026', to: '2026-12-19' }] }, 'spec.freezes[0].from', /must be a time like/],
  [{ freezes: [{ from: '2026-02-30', to: '2026-12-19' }] }, 'spec.freezes[0].from', /must be a time like/],
  [{ freezes: [{ from: '2026-12-19', to: '2026-12-19' }] }, 'spec.freezes[0].to', /after from/],
  [
    { freezes: [{ from: '2026-12-18', to: '2026-12-19', scope: 'x' as 'Everything' }] },
    'spec.freezes[0].scope',
    /"Everything"/,
  ],
  [
    { waves: [{ name: 'a', maxFailed: 1 }] },
    'spec.waves[0].maxFailed',
    /without spec\.failureBudget no host ever counts/,
  ],
  [{ waves: [{ name: 'a', maxFailed: '10%' }], failureBudget: { maxFailed: 3, withinSeconds: 3600 } }],
  [{ failureBudget: { withinSeconds: 0 } }, 'spec.failureBudget.withinSeconds', /between 1/],
  [{ waves: [{ name: 'a', draw: 'x' as 'Same' }] }, 'spec.waves[0].draw', /"Reshuffled"/],
  [{ spreadBy: 'topology.kubernetes.io/zone', catchUp: { maxParallel: '5%' } }],
  [{ catchUp: { maxParallel: 0 } }, 'spec.catchUp.maxParallel', /greater than 0/],
  [{ prePull: { maxParallel: '0%' } }, 'spec.prePull.maxParallel', /greater than 0/],
  [{ confirm: { deadlineSeconds: 0 } }, 'spec.confirm.deadlineSeconds', /between 1/],
];

for (const [part, field, words] of CASES) {
  test(`a policy with ${JSON.stringify(part)} is ${field ? 'rejected' : 'accepted'}`, () => {
    const type = { apiVersion: 'fleet.everynode.dev/v1', kind: 'RolloutPolicy' };
    const policy = { ...type, metadata: { name: 'p' }, spec: { selector: {}, ...part } };
    const errors = validateRolloutPolicy(policy);
    assert.deepEqual(
      errors.map((error) => error.field),
      field ? [field] : [],
      JSON.stringify(errors),
    );
    if (words) assert.match(errors[0]?.message ?? '', words);
  });
}
