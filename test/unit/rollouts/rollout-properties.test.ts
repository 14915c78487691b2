/** Laws of rollouts by waves, over random events of hosts, policies, coordinators and users. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { SteeringVerb } from '../../../shared/kube/rollouts/steering-requests.js';
import { type RolloutHost, SimulatedRollout } from '../../harness/controllers/simulated-rollout.js';

const HOUR_MS = 3_600_000;
const RUNS = 60;
/** `npm test` uses the same draws each time. DRAW=random uses others, and a failure prints its seed. */
const SEED = process.env.DRAW === 'random' ? {} : { seed: 20_261_123 };
const ZONES = ['Asia.Tokyo', 'Europe.Berlin', 'America.New_York'];

type Policy = Omit<RolloutPolicySpec, 'selector'>;

const hosts = fc
  .array(fc.record({ zone: fc.nat(2), site: fc.nat(3), breaks: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 3,
    maxLength: 14,
  })
  .map((drawn) =>
    drawn.map(({ zone, site, breaks }, index): RolloutHost & { isWeak: boolean } => ({
      name: `n${index}`,
      labels: { tz: ZONES[zone] ?? '', site: `s${site}` },
      contact: 'here',
      isWeak: breaks < 2,
    })),
  );
const waves = fc.constantFrom<NonNullable<Policy['waves']>[]>(
  [],
  [{ name: 'canary', nodes: 1, soakSeconds: 600 }],
  [
    { name: 'canary', nodes: 2, maxUnavailable: 1, soakSeconds: 600 },
    { name: 'half', nodes: '50%', maxUnavailable: '50%', approval: 'Manual' },
  ],
  [
    { name: 'lab', nodeSelector: { matchLabels: { site: 's1' } } },
    { name: 'some', nodes: 3, draw: 'Reshuffled' },
  ],
);
const windows = fc.constantFrom<NonNullable<Policy['windows']>[]>(
  [],
  [{ schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz' }],
  [
    { schedule: '0 22 * * 1-5', durationSeconds: 8 * 3600, timeZone: 'Europe/Berlin' },
    { schedule: '0 12 * * 0', durationSeconds: 3600 },
  ],
);
const budgets = fc.constantFrom<Policy['failureBudget'][]>(
  undefined,
  { maxFailed: 0 },
  { maxFailed: '20%', action: 'RollBack' },
  { maxFailed: 1, withinSeconds: 7200, action: 'RollBack' },
);
const policies = fc
  .record({ waves, windows, failureBudget: budgets, spreadBy: fc.constantFrom(undefined, 'site') })
  .map(
    (drawn) => Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)) as Policy,
  );

const index = fc.nat(13);
const VERBS: SteeringVerb[] = [
  'pause',
  'freeze',
  'resume',
  'abort',
  'retry',
  'approve',
  'promote',
  'override-windows',
];
/** One random event, as data. */
const deeds = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: 'act' as const }) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }).map((hours) => ({ do: 'wait' as const, hours })) },
  { weight: 2, arbitrary: index.map((host) => ({ do: 'dark' as const, host })) },
  { weight: 1, arbitrary: index.map((host) => ({ do: 'lost' as const, host })) },
  { weight: 2, arbitrary: index.map((host) => ({ do: 'back' as const, host })) },
  { weight: 2, arbitrary: index.map((host) => ({ do: 'sick' as const, host })) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  { weight: 1, arbitrary: policies.map((policy) => ({ do: 'policy' as const, policy })) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 3, max: 6 }).map((version) => ({ do: 'release' as const, version })),
  },
  { weight: 2, arbitrary: fc.constantFrom(...VERBS).map((verb) => ({ do: 'steer' as const, verb })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('skip' as const, 'unskip' as const), index)
      .map(([verb, host]) => ({ do: 'host' as const, verb, host })),
  },
);
type Deed = typeof deeds extends fc.Arbitrary<infer T> ? T : never;

function does(rollout: SimulatedRollout, deed: Deed): void {
  const nameOf = (host: number) => `n${host}`;
  switch (deed.do) {
    case 'act':
      rollout.stepHosts();
      return;
    case 'wait':
      rollout.advance(deed.hours * HOUR_MS);
      return;
    case 'dark':
      rollout.setContact(nameOf(deed.host), 'away');
      return;
    case 'lost':
      rollout.setContact(nameOf(deed.host), 'lost');
      return;
    case 'back':
      rollout.setContact(nameOf(deed.host), 'here');
      return;
    case 'sick':
      rollout.breakPod(nameOf(deed.host));
      return;
    case 'restart':
      rollout.restart();
      return;
    case 'policy':
      rollout.changePolicy({ waves: [], windows: [], ...deed.policy });
      return;
    case 'release':
      rollout.release(`r${deed.version}`);
      return;
    case 'steer':
      rollout.steer(deed.verb, TARGETED.has(deed.verb) ? ['*'] : undefined);
      return;
    case 'host':
      rollout.steer(deed.verb, [nameOf(deed.host)]);
      return;
  }
}

/** A policy under which slow hosts do not fail. */
function patient({ failureBudget, ...policy }: Policy): Policy {
  const progressDeadlineSeconds = 60 * 86_400;
  return failureBudget ? { ...policy, failureBudget: { ...failureBudget, progressDeadlineSeconds } } : policy;
}

const TARGETED: ReadonlySet<SteeringVerb> = new Set(['approve', 'promote', 'override-windows']);

/** Advances hour by hour, with active hosts, until `isOver` or for three weeks. */
function runOn(rollout: SimulatedRollout, isOver: () => boolean): void {
  for (let hour = 0; hour < 21 * 24 && !isOver(); hour += 1) {
    for (let round = 0; round < 3; round += 1) rollout.stepHosts();
    rollout.advance(HOUR_MS);
  }
}

/**
 * The simulated rollout itself checks each decision for windows, budgets, pauses and repeatability
 * (`SimulatedRollout.step`).
 */
describe('rollouts by waves', () => {
  test('stop no available Pod beyond maxUnavailable, outside a window, in a pause or a freeze, and decide the same again', () => {
    fc.assert(
      fc.property(hosts, policies, fc.array(deeds, { maxLength: 40 }), (drawn, policy, done) => {
        const broken = drawn.map(({ isWeak, ...host }) => ({ ...host, ...(isWeak ? { breaks: 'r2' } : {}) }));
        const rollout = new SimulatedRollout(broken, policy);
        rollout.release('r2');
        for (const deed of done) does(rollout, deed);
      }),
      { numRuns: 4 * RUNS, ...SEED },
    );
  });

  test('end, where nothing fails, once windows open and approvals arrive', () => {
    fc.assert(
      fc.property(hosts, policies, fc.array(deeds, { maxLength: 15 }), (drawn, policy, done) => {
        const rollout = new SimulatedRollout(
          drawn.map(({ isWeak: _, ...host }) => host),
          patient(policy),
        );
        rollout.release('r2');
        for (const deed of done.filter(({ do: what }) => what !== 'sick'))
          does(rollout, deed.do === 'policy' ? { ...deed, policy: patient(deed.policy) } : deed);
        for (const name of rollout.hosts.keys()) rollout.setContact(name, 'here');
        rollout.steer('resume');
        rollout.steer('unskip', ['*']);
        rollout.steer('retry');
        rollout.steer('approve', ['*']);
        const isOver = () => rollout.phase === 'Completed' && new Set(rollout.inReach).size === 1;
        runOn(rollout, isOver);
        assert.ok(isOver(), `${rollout.rollout.status?.phase}: ${rollout.rollout.status?.message}`);
      }),
      { numRuns: RUNS, ...SEED },
    );
  });

  test('when aborted, leave no reachable host on the revision, and touch no host that never had it', () => {
    fc.assert(
      fc.property(hosts, policies, fc.array(deeds, { maxLength: 15 }), (drawn, policy, done) => {
        const broken = drawn.map(({ isWeak, ...host }) => ({ ...host, ...(isWeak ? { breaks: 'r2' } : {}) }));
        const rollout = new SimulatedRollout(broken, policy);
        rollout.release('r2');
        // Hosts on which the old revision no longer runs use up the unavailable budget, and nothing repairs them. The
        // limit of unavailable Pods takes precedence over a complete rollback.
        const endsForGood = (deed: Deed) =>
          deed.do === 'sick' && rollout.hosts.get(`n${deed.host}`)?.pod?.hash !== 'r2';
        for (const deed of done) if (deed.do !== 'release' && !endsForGood(deed)) does(rollout, deed);
        rollout.steer('resume');
        rollout.steer('abort');
        const podsBefore = new Map([...rollout.hosts].map(([name, { pod }]) => [name, pod]));
        runOn(rollout, () => rollout.phase === 'RolledBack');
        for (let round = 0; round < 3; round += 1) rollout.stepHosts();
        if (rollout.rollout.status?.stableRevision === undefined) return;
        assert.ok(!rollout.inReach.includes('r2'), `${rollout.rollout.status?.message}`);
        for (const [name, pod] of podsBefore) {
          if (pod?.hash === 'r1' && pod.ready)
            assert.equal(rollout.hosts.get(name)?.pod?.name, pod.name, name);
        }
      }),
      { numRuns: RUNS, ...SEED },
    );
  });

  test('when aborted after several waves, share one budget between all waves without their own', () => {
    const names = ['one', 'two', 'three', 'four', 'last'];
    const hosts = [...names, ...names].map((_, host): RolloutHost => {
      return { name: `n${host}`, labels: {}, contact: 'here' };
    });
    const policy: Policy = {
      waves: names.map((name) => ({ name, nodes: 2, ...(name === 'last' ? { approval: 'Manual' } : {}) })),
    };
    const rollout = new SimulatedRollout(hosts, policy);
    rollout.release('r2');
    runOn(rollout, () => rollout.phase === 'AwaitingApproval');
    assert.equal(rollout.observedHosts.size, 8);
    rollout.steer('abort');
    assert.equal([...rollout.hosts.values()].filter(({ pod }) => !pod).length, 2);
    runOn(rollout, () => rollout.phase === 'RolledBack');
    for (let round = 0; round < 3; round += 1) rollout.stepHosts();
    assert.deepEqual(new Set(rollout.inReach), new Set(['r1']));
  });

  test('of a broken release reach no more hosts than may fail, plus those in progress then', () => {
    fc.assert(
      fc.property(hosts, waves, fc.nat(4), fc.boolean(), (drawn, drawnWaves, maxFailed, restarts) => {
        const rollout = new SimulatedRollout(
          drawn.map(({ isWeak: _, ...host }) => ({ ...host, breaks: 'r2' })),
          { waves: drawnWaves.map((wave) => ({ ...wave, maxUnavailable: 1 })), failureBudget: { maxFailed } },
        );
        rollout.release('r2');
        rollout.steer('approve', ['*']);
        for (let hour = 0; hour < 50; hour += 1) {
          rollout.stepHosts();
          if (restarts) rollout.restart();
          rollout.advance(HOUR_MS);
        }
        // One host more than the budget may fail, because the wave's next host may already be updating. Without a wave
        // of its own it is two at most.
        assert.ok(
          rollout.observedHosts.size <= maxFailed + 2 + drawnWaves.length,
          `${rollout.observedHosts.size}`,
        );
      }),
      { numRuns: RUNS, ...SEED },
    );
  });
});
