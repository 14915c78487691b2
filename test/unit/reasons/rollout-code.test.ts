/** Every host of a rollout has exactly one code. Counts follow each event and add up to the fleet. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { WaveIndex } from '../../../coordinator/controllers/rollouts/wave-index.js';
import type { NodeRecord } from '../../../coordinator/decisions/daemonsets/node-record.js';
import {
  NODE_UPDATE_STATES,
  type NodeUpdateState,
} from '../../../coordinator/decisions/daemonsets/rolling-update.js';
import type { NodeContact } from '../../../coordinator/decisions/nodes/node-contact.js';
import {
  type HostRolloutState,
  type RolloutPhaseInfo,
  rolloutCode,
} from '../../../coordinator/decisions/rollouts/host-rollout-code.js';
import type { WaveCounts } from '../../../coordinator/decisions/rollouts/rollout-memory.js';
import { estimatedEnd, progressOf } from '../../../coordinator/decisions/rollouts/rollout-progress.js';
import type { HandoverBlockReason } from '../../../shared/kube/handovers/host-handover.js';
import { ROLLOUT_REASON_CODES } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { stateFrom } from '../../harness/controllers/node-states.js';
import { wave } from '../../harness/controllers/rollout-inputs.js';

const WAVES = 3;
const place = ({
  state = 'oldAvailable',
  ...change
}: Partial<Omit<HostRolloutState, 'state'>> & { state?: string }): HostRolloutState => ({
  ...{ wave: 1, state: stateFrom(state) },
  ...change,
});
const stand = (change: Partial<RolloutPhaseInfo>): RolloutPhaseInfo => ({
  ...{ phase: 'Progressing', wave: 1, isHalted: false, isBarred: false, isReverting: false },
  ...change,
});
const BARRED = { phase: 'Failed' as const, isBarred: true };

const CASES: [rule: string, place: HostRolloutState | undefined, stand: RolloutPhaseInfo, code: string][] = [
  ['outside the rollout', undefined, stand({}), 'NotEligible'],
  ['updated and healthy', place({ state: 'newAvailable' }), stand({}), 'Updated'],
  ['its wave soaks', place({ state: 'newAvailable' }), stand({ phase: 'Soaking' }), 'Soaking'],
  ['a later wave soaks', place({ state: 'newAvailable', wave: 0 }), stand({ phase: 'Soaking' }), 'Updated'],
  ['not available yet', place({ state: 'newUnavailable' }), stand({}), 'Updating'],
  ['ordered', place({ state: 'inProgress' }), stand({}), 'Updating'],
  ['two Pods next to each other', place({ state: 'pairAvailable' }), stand({}), 'Updating'],
  ['no Pod in an open wave', place({ state: 'empty' }), stand({}), 'Updating'],
  ['others first', place({}), stand({}), 'Budget'],
  ['a later wave', place({ wave: 2 }), stand({}), 'WaitingForWave'],
  [
    'the next wave needs an approval',
    place({ wave: 2 }),
    stand({ phase: 'AwaitingApproval' }),
    'WaitingForApproval',
  ],
  [
    'the wave after the next does not need one',
    place({ wave: 3 }),
    stand({ phase: 'AwaitingApproval' }),
    'WaitingForWave',
  ],
  ['paused', place({}), stand({ phase: 'Paused' }), 'RolloutPaused'],
  ['frozen', place({ wave: 2 }), stand({ phase: 'Frozen' }), 'Frozen'],
  [
    'disconnected before its handover',
    place({ state: 'deferred' }),
    stand({ phase: 'Paused' }),
    'DeferredOffline',
  ],
  ['updated and unhealthy', place({ state: 'failed' }), stand({}), 'Failed'],
  ['updated and unhealthy, without a rollback', place({ state: 'failed' }), stand(BARRED), 'Failed'],
  ['goes back', place({ state: 'failed' }), stand({ ...BARRED, isReverting: true }), 'RollingBack'],
  [
    'healthy, and reverts too',
    place({ state: 'newAvailable' }),
    stand({ ...BARRED, isReverting: true }),
    'RollingBack',
  ],
  [
    'its previous Pod is being created',
    place({ state: 'inProgress' }),
    stand({ ...BARRED, phase: 'RolledBack' }),
    'RollingBack',
  ],
  [
    'a Pod is to be created again',
    place({ state: 'empty' }),
    stand({ ...BARRED, phase: 'RolledBack' }),
    'RollingBack',
  ],
  ['has reverted', place({ detail: 'Restored' }), stand(BARRED), 'Reverted'],
  ['failed, and has reverted', place({ detail: 'FailedBefore' }), stand(BARRED), 'Failed'],
  [
    'failed, has gone back, and is outside its window',
    place({ detail: 'FailedBefore', state: 'outOfWindow/oldAvailable' }),
    stand({ ...BARRED, phase: 'RolledBack' }),
    'Failed',
  ],
  ['not heard since the start', place({ state: 'awaitingResync/oldAvailable' }), stand({}), 'AwaitingResync'],
  [
    'not heard since the start, before its wave is open',
    place({ state: 'awaitingResync/oldAvailable', wave: 2 }),
    stand({}),
    'WaitingForWave',
  ],
  [
    'updated, and not heard since the start',
    place({ state: 'awaitingResync/newAvailable' }),
    stand({}),
    'Updated',
  ],
  [
    'offline, with a handover that it may have started',
    place({ state: 'deferredHandover' }),
    stand({}),
    'DeferredOffline',
  ],
  ['outside its window', place({ state: 'outOfWindow/oldAvailable' }), stand({}), 'OutsideWindow'],
  [
    'outside its window, and not its turn',
    place({ state: 'outOfWindow/oldAvailable', wave: 2 }),
    stand({}),
    'WaitingForWave',
  ],
  ['updated, outside its window', place({ state: 'outOfWindow/newAvailable' }), stand({}), 'Updated'],
  [
    'of a release that failed before',
    place({ state: 'staleFailed/oldAvailable' }),
    stand({ phase: 'RolledBack', isBarred: true, isReverting: true }),
    'RollingBack',
  ],
  [
    'of a release that failed before, without a rollback',
    place({ state: 'staleFailed/oldAvailable' }),
    stand({ phase: 'Failed', isBarred: true }),
    'RolloutFailed',
  ],
  ['another Pod after a retry', place({ state: 'retryPending' }), stand({}), 'Updating'],
  ['taken out', place({ state: 'skipped' }), stand({ phase: 'Paused' }), 'Skipped'],
  [
    'not updated yet, and paused',
    place({}),
    stand({ phase: 'Completed', wave: 2, isHalted: true }),
    'RolloutPaused',
  ],
  ['its handover is pending', place({ state: 'handedOver' }), stand({}), 'Updating'],
  [
    'its host reports why it waits',
    place({ state: 'handedOver', detail: 'UpdateLocked' }),
    stand({}),
    'UpdateLocked',
  ],
  [
    'its handover was revoked',
    place({ state: 'handedOver', detail: 'Withdrawn' }),
    stand(BARRED),
    'RolloutFailed',
  ],
  [
    'its handover was revoked, in a wave that has closed',
    place({ state: 'handedOver', detail: 'Withdrawn', wave: 2 }),
    stand({}),
    'WaitingForWave',
  ],
  ['its first Pod, in an open wave', place({ state: 'blocked' }), stand({}), 'Updating'],
  ['its first Pod, in a later wave', place({ state: 'blocked', wave: 2 }), stand({}), 'WaitingForWave'],
  ['its first Pod, outside its window', place({ state: 'outOfWindow/blocked' }), stand({}), 'OutsideWindow'],
  ['where no Pod belongs any longer', place({ state: 'retiringAvailable' }), stand({}), 'Budget'],
  ['never had the revision', place({}), stand(BARRED), 'RolloutFailed'],
];

describe('a host of a rollout', () => {
  for (const [rule, at, how, code] of CASES) {
    test(`${rule}: ${code}`, () => assert.equal(rolloutCode(at, how), code));
  }
});

const PHASES: RolloutPhase[] = [
  'Progressing',
  'Soaking',
  'AwaitingApproval',
  'Paused',
  'Failed',
  'Completed',
];
const situation = fc.option(fc.constantFrom(...NODE_UPDATE_STATES), { nil: undefined });
const contact = fc.constantFrom<NodeContact>('here', 'away', 'lost');
const event = fc.record({
  node: fc.integer({ min: 0, max: 19 }),
  situation,
  contact,
  trouble: fc.boolean(),
  oldPodAt: fc.constantFrom(0, 2_000),
  waiting: fc.option(fc.constantFrom<HandoverBlockReason>('UpdateLocked', 'OutsideWindow'), {
    nil: undefined,
  }),
});

function recordOf(
  at: NodeUpdateState,
  trouble: boolean,
  oldPodAt: number,
  waiting: HandoverBlockReason | undefined,
): NodeRecord {
  const yes = {
    desired: true,
    current: true,
    misscheduled: false,
    ready: true,
    available: true,
    updated: true,
  };
  return {
    ...{ share: yes, updateStatus: { state: at, covered: true }, hashes: [] },
    newPod: { createdAt: 0, ...(trouble ? { failureReason: 'CrashLoopBackOff' } : {}) },
    oldPodAt,
    handover: { forced: false, ...(waiting ? { waitReason: waiting } : {}) },
  };
}

test('counts by code stay correct for any events, match each host, and add up to the fleet', () => {
  const phase = fc.constantFrom(...PHASES);
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 80 }),
      phase,
      fc.integer({ min: -1, max: 2 }),
      (events, how, wave) => {
        const contacts = new Map<string, NodeContact>();
        const nodes = Array.from({ length: 20 }, (_, index) => `n${index}`);
        const waves = new WaveIndex({
          plan: new Map(nodes.map((name, index) => [name, index % WAVES])),
          waves: WAVES,
          connectivity: (name) => ({ contact: contacts.get(name) ?? 'here' }),
          times: {},
          rules: { deadlineMs: 600_000 },
          now: () => 1_000,
        });
        for (const { node, situation: at, contact: link, trouble, oldPodAt, waiting } of events) {
          const name = `n${node}`;
          contacts.set(name, link);
          waves.update(name, at, at && recordOf(at, trouble, oldPodAt, waiting));
        }
        const isBarred = how === 'Failed';
        const now: RolloutPhaseInfo = { phase: how, wave, isHalted: false, isBarred, isReverting: isBarred };
        const failure = isBarred ? { failure: 'too many failed' } : {};
        waves.applyMemory({ revision: 'r', wave, startedAt: 1_000, ...failure });
        const codeOf = (at: HostRolloutState | undefined) => rolloutCode(at, now);
        const { codes } = progressOf(
          waves.hostStates.codes(WAVES, codeOf),
          nodes.length - waves.hostStates.existing,
          undefined,
        );
        const expected: Record<string, number> = {};
        for (const name of nodes) {
          const code = codeOf(waves.hostStates.of(name));
          expected[code] = (expected[code] ?? 0) + 1;
        }
        assert.deepEqual({ ...codes }, expected);
        assert.equal(
          Object.values(codes).reduce((sum, count) => sum + count, 0),
          nodes.length,
        );
        assert.ok(
          Object.keys(codes).every((code) => (ROLLOUT_REASON_CODES as readonly string[]).includes(code)),
        );
      },
    ),
  );
});

describe('the estimated end', () => {
  const NOW = 1_000_000;
  const counts = (nodes: number, change: Partial<WaveCounts> = {}) => wave({ nodes, ...change });
  const input = {
    spec: { selector: {}, waves: [{ name: 'canary', soakSeconds: 60 }] },
    phase: 'Progressing' as const,
    waves: [counts(2), counts(10)],
    wave: 0,
    budgetOf: () => 2,
    windowOpenings: () => [],
    cycleMs: 10_000,
    now: NOW,
  };
  /** Hosts of one wave outside their windows, with the time until these open. */
  const opening =
    (wave: number, ...zones: [inMs: number | undefined, hosts: number][]) =>
    (index: number) =>
      index !== wave ? [] : zones.map(([inMs, hosts]) => ({ at: inMs && NOW + inMs, hosts }));
  const ROWS: [
    rule: string,
    change: Partial<Parameters<typeof estimatedEnd>[0]>,
    afterMs: number | undefined,
  ][] = [
    ['waves, budgets and soak times one after another', {}, 10_000 + 60_000 + 50_000],
    [
      'a soak time that has started',
      { phase: 'Soaking', waves: [counts(2, { updated: 2 }), counts(10)], soakingSince: NOW - 20_000 },
      40_000 + 50_000,
    ],
    [
      'deferred and skipped hosts are not waited for',
      { waves: [counts(2), counts(10, { deferred: 6, skipped: 4 })] },
      70_000,
    ],
    [
      'a window that is still to open',
      { phase: 'AwaitingWindow', windowOpenings: opening(0, [3_600_000, 2]) },
      3_600_000 + 120_000,
    ],
    [
      'the last of the windows, not the first',
      { phase: 'AwaitingWindow', windowOpenings: opening(1, [3_600_000, 4], [7_200_000, 6]) },
      7_200_000 + 30_000,
    ],
    [
      'hosts in their windows are updated meanwhile, others in order',
      { windowOpenings: opening(1, [80_000, 4]) },
      70_000 + 30_000 + 20_000,
    ],
    ['a window that never opens', { windowOpenings: opening(1, [undefined, 1]) }, undefined],
    ['the time of a manual approval is unknown', { phase: 'AwaitingApproval' }, undefined],
    ['a finished rollout has no estimated end', { phase: 'Completed' }, undefined],
  ];
  for (const [rule, change, afterMs] of ROWS) {
    test(rule, () => {
      const expected = afterMs === undefined ? undefined : NOW + afterMs;
      assert.equal(estimatedEnd({ ...input, ...change }), expected);
    });
  }
});
