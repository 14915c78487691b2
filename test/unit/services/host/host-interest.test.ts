import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  afterRequest,
  FULL_BUDGET,
  isInterestOver,
  type LookupFacts,
  type LookupStep,
  lookupStep,
  MAX_NAMES_WITHOUT_VIEW,
  MAX_SINGLE_ENDPOINTS,
  namespaceAbsence,
  nameToDrop,
  type RequestBudget,
  type ServiceKnowledge,
} from '../../../../agent/decisions/services/host-interest.js';
import { serviceView } from '../../../harness/services/service-views.js';

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const KNOWN: ServiceKnowledge = { state: 'known', view: serviceView('web') };
const REQUESTED: ServiceKnowledge = { state: 'requested' };
const absentFor = (ms: number): ServiceKnowledge => ({ state: 'absent', confirmedAt: NOW - ms });

const ONLINE: LookupFacts = {
  isLive: true,
  mayRequest: true,
  namespaceAbsence: 'none',
  isNamespaceUsed: () => true,
  now: NOW,
};
const OFFLINE: LookupFacts = { ...ONLINE, isLive: false };
const unused = { isNamespaceUsed: () => false };

describe('step of a lookup', () => {
  const table: [what: string, known: ServiceKnowledge | undefined, facts: LookupFacts, step: LookupStep][] = [
    ['a known Service is answered', KNOWN, ONLINE, 'answer'],
    ['a known Service is answered offline', KNOWN, OFFLINE, 'answer'],
    ['an unknown name is requested', undefined, ONLINE, 'request'],
    ['an unknown name beyond the limits is unknown', undefined, { ...ONLINE, mayRequest: false }, 'unknown'],
    ['a requested name waits', REQUESTED, ONLINE, 'wait'],
    ['a requested name is unknown after the link was lost', REQUESTED, OFFLINE, 'unknown'],
    ['a recent absence is answered without the hub', absentFor(30_000), ONLINE, 'absent'],
    ['an older absence is confirmed again', absentFor(30_001), ONLINE, 'refresh'],
    ['an absence of any age is answered offline', absentFor(48 * HOUR), OFFLINE, 'absent'],
    ['an unknown name is unknown offline', undefined, OFFLINE, 'unknown'],
    ['a name in an unused namespace is absent offline', undefined, { ...OFFLINE, ...unused }, 'absent'],
    ['a name in an unused namespace is requested', undefined, { ...ONLINE, ...unused }, 'request'],
    [
      'a name in a namespace that was just reported absent is absent',
      undefined,
      { ...ONLINE, namespaceAbsence: 'recent' },
      'absent',
    ],
    [
      'a name in a namespace that was reported absent earlier is requested',
      undefined,
      { ...ONLINE, namespaceAbsence: 'old' },
      'request',
    ],
  ];
  for (const [what, known, facts, step] of table)
    test(what, () => assert.equal(lookupStep(known, facts), step));

  test('the absence of a namespace is recent for 30 s, and for as long as the hub is unreachable', () => {
    assert.deepEqual(
      [
        namespaceAbsence(undefined, true, NOW),
        namespaceAbsence(NOW - 30_000, true, NOW),
        namespaceAbsence(NOW - 30_001, true, NOW),
        namespaceAbsence(Number.NEGATIVE_INFINITY, false, NOW),
      ],
      ['none', 'recent', 'old', 'recent'],
    );
  });
});

describe('end of the interest', () => {
  const at = (unusedMs: number, knowledge: ServiceKnowledge) => ({ lastUsedAt: NOW - unusedMs, knowledge });
  const clusterIP = { addressing: { type: 'clusterIP', address: '10.96.0.7' } } as const;
  const nodePort = { ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30_080 }] };
  const known = (fields: object): ServiceKnowledge => ({ state: 'known', view: serviceView('web', fields) });
  const table: [
    what: string,
    use: Parameters<typeof isInterestOver>[0],
    oldestPod: number | undefined,
    over: boolean,
  ][] = [
    ['a Service that was used within the hour is kept', at(HOUR, KNOWN), undefined, false],
    ['a Service that was not used for an hour is dropped', at(HOUR + 1, KNOWN), undefined, true],
    ['an absence is dropped after ten minutes', at(600_001, absentFor(0)), undefined, true],
    ['an absence that is looked up is kept', at(600_000, absentFor(HOUR)), undefined, false],
    ['an unanswered name is dropped after ten minutes', at(600_001, REQUESTED), undefined, true],
    ['a node port is kept', at(9 * HOUR, known(nodePort)), undefined, false],
    ['a relayed Service is kept', at(9 * HOUR, known({ relayPorts: [0] })), undefined, false],
    ['a ClusterIP stays while a Pod may hold it', at(9 * HOUR, known(clusterIP)), NOW - 10 * HOUR, false],
    [
      'a ClusterIP that only later Pods exist for is dropped',
      at(9 * HOUR, known(clusterIP)),
      NOW - HOUR,
      true,
    ],
    ['a headless Service is dropped although Pods run', at(9 * HOUR, KNOWN), NOW - 10 * HOUR, true],
  ];
  for (const [what, use, oldestPod, over] of table)
    test(what, () => assert.equal(isInterestOver(use, oldestPod, NOW), over));
});

describe('limits of names', () => {
  test('beyond the limit the name that was looked up least recently is dropped, and no view is', () => {
    const names = new Map(
      Array.from({ length: MAX_NAMES_WITHOUT_VIEW }, (_, index) => [
        `default/${index}`,
        { lastUsedAt: NOW + ((index + 7) % MAX_NAMES_WITHOUT_VIEW), knowledge: absentFor(0) },
      ]),
    );
    names.set('default/web', { lastUsedAt: 0, knowledge: KNOWN });
    assert.equal(nameToDrop(names, 'default/new'), `default/${MAX_NAMES_WITHOUT_VIEW - 7}`);
    assert.equal(nameToDrop(names, 'default/web/node-1'), undefined, 'endpoints displace no Service');
    names.delete('default/3');
    assert.equal(nameToDrop(names, 'default/new'), undefined);
  });

  test('single endpoints have a limit of their own', () => {
    const names = new Map(
      Array.from({ length: MAX_SINGLE_ENDPOINTS }, (_, index) => [
        `default/web/node-${index}`,
        { lastUsedAt: NOW + ((index + 7) % MAX_SINGLE_ENDPOINTS), knowledge: KNOWN },
      ]),
    );
    names.set('default/web', { lastUsedAt: 0, knowledge: KNOWN });
    assert.equal(nameToDrop(names, 'default/web/new'), `default/web/node-${MAX_SINGLE_ENDPOINTS - 7}`);
    assert.equal(nameToDrop(names, 'default/new'), undefined);
    names.delete('default/web/node-3');
    assert.equal(nameToDrop(names, 'default/web/new'), undefined);
  });

  test('a burst of requests is limited, and refills over time', () => {
    let budget: RequestBudget | undefined = FULL_BUDGET;
    const take = (now: number): boolean => {
      const next = afterRequest(budget ?? FULL_BUDGET, now);
      if (next) budget = next;
      return next !== undefined;
    };
    const taken = Array.from({ length: 150 }, () => take(5_000)).filter(Boolean);
    assert.equal(taken.length, 100);
    assert.deepEqual([take(5_099), take(5_100), take(5_100)], [false, true, false]);
  });
});
