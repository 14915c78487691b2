/** Faults with values of hosts that the simulation found, each as a short history. */
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import type { Step, UserStep } from '../histories/history.js';
import { after, daemonSet, outcomesNear, outcomesOf, setImage } from './case-builders.js';
import { type Absent, withWitness } from './case-witness.js';

type SetValues = Extract<UserStep, { kind: 'set values' }>;

const TAINT: UserStep = { kind: 'taint node', node: 'host-1', effect: 'NoSchedule' };
const UNLABEL: UserStep = { kind: 'label node', node: 'host-1', zone: null };
const USE_ZONE: UserStep = { kind: 'use values', name: 'alpha', uses: ['zone'] };

const setStore = (object: string, over: Partial<SetValues>): UserStep => ({
  ...{ kind: 'set values', object, priority: 0, zone: null, nodes: [], key: 'store', value: 'v1' },
  ...over,
});

const STAYS: Absent = { absent: /marked for deletion/ };

/** The rules accept for a while what programs may not have seen yet. */
const NEWS_SECONDS = 40;

describe('faults with values of hosts that the simulation found', () => {
  for (const strategy of [
    { type: 'RollingUpdate', maxUnavailable: 1 },
    { type: 'RollingUpdate', maxUnavailable: 0, maxSurge: 1 },
  ] as const)
    test(
      `a tainted host without a value keeps its Pod, whose value was there before, with ${JSON.stringify(strategy)}`,
      withWitness(
        [
          /a container of \S+ runs/,
          /"use values"/,
          /a container of (?<current>\S+) runs/,
          /"taint node"/,
          { absent: /Pod <current> (marked for deletion|removed)/ },
          /faults end/,
        ],
        () =>
          outcomesOf(1, [
            after(1, daemonSet('app:1', { strategy })),
            after(10, USE_ZONE),
            after(20, UNLABEL),
            after(NEWS_SECONDS, TAINT),
            after(NEWS_SECONDS, { kind: 'wait' }),
          ]),
      ),
    );

  test(
    'a tainted host without a value keeps its Pod when the template changes',
    withWitness([/"taint node"/, STAYS, /"set image"/, STAYS, /faults end/], () => {
      const steps: Step[] = [
        after(1, daemonSet('app:1')),
        after(10, USE_ZONE),
        after(20, UNLABEL),
        after(1, TAINT),
        after(NEWS_SECONDS, setImage('app:2')),
        after(NEWS_SECONDS, { kind: 'wait' }),
      ];
      return outcomesOf(1, steps);
    }),
  );

  test(
    'a host that joins while a rollout of values alone has failed gets a Pod with the present values',
    withWitness([/Rollout beta changed: status \(Failed/, /Pod \S+ created on host-5/], () =>
      outcomesNear({
        ...{ seed: 'values-25000060', nodes: 5, speed: 0 },
        steps: [
          after(
            0.1,
            daemonSet('app:broken', {
              name: 'beta',
              strategy: { type: 'RollingUpdate', maxUnavailable: '50%' },
            }),
          ),
          after(0.1, setStore('defaults', { priority: -1, value: 'v0' })),
          after(0.1, { kind: 'use values', name: 'beta', uses: ['store'] }),
          after(120, {
            kind: 'set policy',
            policy: {
              ...{ soakSeconds: 60, approval: 'Automatic', maxFailed: 1 },
              ...{ deadlineSeconds: 120, action: 'Pause' },
            },
          }),
          after(5.764, { kind: 'stop agent', node: 'host-5', downMs: 60_562 }),
          after(0.145, setStore('rivals', { nodes: ['host-1', 'host-2', 'host-3'], value: 'v2' })),
          after(0.003, { kind: 'delete node', node: 'host-5' }),
        ],
      }),
    ),
  );

  test(
    'an adopted Pod with values counts as updated by its template generation if the template uses none',
    withWitness(
      [
        /DaemonSet beta removed/,
        /DaemonSet beta created/,
        /Pod \S+ changed: metadata/,
        /"set image"/,
        /DaemonSet beta changed: status .*"updatedNumberScheduled":1/,
      ],
      () =>
        outcomesOf(1, [
          after(0.1, daemonSet('app:1', { name: 'beta' })),
          after(0.1, setStore('defaults', { value: 'v0' })),
          after(0.1, { kind: 'use values', name: 'beta', uses: ['store'] }),
          after(10, { kind: 'delete daemonset', name: 'beta', policy: 'Orphan' }),
          after(10, daemonSet('app:2', { name: 'beta', strategy: { type: 'OnDelete' } })),
          after(10, { kind: 'set image', name: 'beta', image: 'app:3' }),
        ]),
    ),
  );

  test(
    'a host gets a Pod of the next template if the one before had no value there',
    withWitness(
      [/Rollout beta changed: status \(RolledBack/, /mend an image/, /Pod \S+ created on host-2/],
      () =>
        outcomesNear({
          ...{ seed: 'values-32000166', nodes: 2, speed: 0 },
          steps: [
            after(0.1, daemonSet('app:crash', { name: 'beta', graceSeconds: 10 })),
            after(0.1, setStore('defaults', { priority: -1, value: 'v0' })),
            after(0.1, { kind: 'use values', name: 'beta', uses: ['store'] }),
            after(2.057, { kind: 'label node', node: 'host-2', zone: 'a' }),
            after(0.01, {
              kind: 'set policy',
              policy: {
                ...{ soakSeconds: 10, approval: 'Automatic', maxFailed: 1 },
                ...{ deadlineSeconds: 120, action: 'RollBack' },
              },
            }),
            after(0.759, setStore('defaults', { priority: -1, key: 'spare', value: 'v2' })),
            after(0.224, { kind: 'use values', name: 'beta', uses: ['zone'] }),
          ],
        }),
    ),
  );
});
