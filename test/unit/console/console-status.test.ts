/** States, versions and activity as the console words them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AuditEvent, CHANGES_ANNOTATION } from '../../../shared/kube/access/audit-types.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

const { rangeQuery } =
  await consoleModule<typeof import('../../../console/audit/activity-range.js')>('audit/activity-range.ts');
const { activitySentence } = await consoleModule<
  typeof import('../../../console/audit/activity-sentence.js')
>('audit/activity-sentence.ts');
const { auditCommand, auditFilters } =
  await consoleModule<typeof import('../../../console/audit/activity-filter.js')>('audit/activity-filter.ts');
const { changeSummary, recordedChangesOf } =
  await consoleModule<typeof import('../../../console/audit/change-summary.js')>('audit/change-summary.ts');
const { bySeverity, daemonSetStatus, hostStatus, podStatus, rolloutStatus } = await consoleModule<
  typeof import('../../../console/layout/status/object-status.js')
>('layout/status/object-status.ts');
const { codeWords, isNotMeantForHost, reasonStatus } = await consoleModule<
  typeof import('../../../console/layout/status/reason-status.js')
>('layout/status/reason-status.ts');
const { imagesText, shortImage } =
  await consoleModule<typeof import('../../../console/layout/text/image-text.js')>(
    'layout/text/image-text.ts',
  );
const { rolloutVersions } = await consoleModule<
  typeof import('../../../console/rollouts/rollout-versions.js')
>('rollouts/rollout-versions.ts');

describe('the state of an object', () => {
  const pod = (status: object, metadata: object = {}) =>
    podStatus({ metadata: { name: 'p', ...metadata }, spec: { containers: [] }, status } as unknown as Pod);
  const waiting = (reason: string) => ({
    phase: 'Pending',
    containerStatuses: [{ ready: false, state: { waiting: { reason } } }],
  });
  const running = (ready: boolean) => ({ phase: 'Running', containerStatuses: [{ ready, state: {} }] });
  for (const [what, shown, tone, word] of [
    ['a ready Pod', pod(running(true)), 'ok', 'Running'],
    ['a Pod that is not ready', pod(running(false)), 'waiting', 'Running, not ready'],
    ['a Pod whose image is pulled', pod(waiting('ContainerCreating')), 'progress', 'ContainerCreating'],
    ['a crash loop', pod(waiting('CrashLoopBackOff')), 'failed', 'CrashLoopBackOff'],
    ['an evicted Pod', pod({ phase: 'Failed', reason: 'Evicted' }), 'failed', 'Evicted'],
    ['a Pod that has ended', pod({ phase: 'Succeeded' }), 'over', 'Succeeded'],
    ['a Pod without a status', pod({}), 'progress', 'Pending'],
    ['a deleted Pod', pod(running(true), { deletionTimestamp: 'now' }), 'progress', 'Terminating'],
    ['an offline host', hostStatus('offline'), 'offline', 'Offline'],
    ['a cordoned host', hostStatus('cordoned'), 'maintenance', 'Cordoned'],
    ['a rollout that rolled back', rolloutStatus('RolledBack'), 'failed', 'Rolled back'],
    ['a rollout without a status', rolloutStatus(undefined), 'progress', 'Not processed yet'],
  ] as const) {
    test(`${what} is "${word}"`, () => assert.deepEqual(shown, { tone, word }));
  }

  const daemonSet = (status: object | undefined, generation = 1) =>
    daemonSetStatus({ metadata: { name: 'd', generation }, spec: {}, status } as unknown as DaemonSet);
  const counts = { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3 };
  for (const [what, shown, tone, word] of [
    ['available on all hosts', daemonSet({ ...counts, numberAvailable: 3 }), 'ok', 'Available'],
    ['updated in part', daemonSet({ ...counts, updatedNumberScheduled: 1 }), 'progress', '1 of 3 updated'],
    [
      'not available in part',
      daemonSet({ ...counts, numberAvailable: 1 }),
      'waiting',
      '2 of 3 not available',
    ],
    ['without hosts', daemonSet({ observedGeneration: 1, desiredNumberScheduled: 0 }), 'over', 'No hosts'],
    ['changed a moment ago', daemonSet(counts, 2), 'progress', 'Not processed yet'],
    ['without a status', daemonSet(undefined), 'progress', 'Not processed yet'],
  ] as const) {
    test(`a DaemonSet ${what} is "${word}"`, () => assert.deepEqual(shown, { tone, word }));
  }

  test('failures come before other states', () => {
    const sorted = [hostStatus('healthy'), hostStatus('offline'), hostStatus('failing')].sort(bySeverity);
    assert.deepEqual(
      sorted.map(({ tone }) => tone),
      ['failed', 'offline', 'ok'],
    );
  });
});

describe('reason codes', () => {
  for (const [code, words] of [
    ['OutsideWindow', 'Waiting for a window'],
    ['RolloutPaused', 'Rollout paused'],
    ['UntoleratedTaint', 'Kept away by a taint'],
    ['Running', 'Running'],
    ['RolloutFailed', 'Not updated: the rollout failed'],
  ] as const) {
    test(`${code} reads "${words}"`, () => assert.equal(codeWords(code), words));
  }
  test('an unselected host needs no operator, an unknown code waits', () => {
    assert.ok(isNotMeantForHost('NodeSelectorMismatch'));
    assert.ok(!isNotMeantForHost('UntoleratedTaint'));
    assert.equal(reasonStatus('UntoleratedTaint').tone, 'waiting');
    // Both codes have several causes, such as a refused value and a port that is in use.
    assert.equal(reasonStatus('FailedCreate').word, 'Pod cannot be created');
    assert.equal(reasonStatus('Unschedulable').word, 'Does not fit on the host');
  });
});

describe('versions', () => {
  for (const [image, short] of [
    ['registry.example:5000/shop/till:1.4.1', 'till:1.4.1'],
    ['till', 'till'],
    ['shop/till:1.4@sha256:0123456789abcdef', 'till:1.4'],
    ['shop/till@sha256:0123456789abcdef', 'till@0123456789ab'],
  ] as const) {
    test(`${image} is shown as ${short}`, () => assert.equal(shortImage(image), short));
  }
  test('equal images of several containers are shown once', () => {
    assert.equal(imagesText([{ image: 'a/x:1' }, { image: 'b/x:1' }, { image: 'y:2' }]), 'x:1, y:2');
  });

  const revision = (number: number, hash: string, image: string) =>
    ({
      metadata: {
        ...{ name: `till-${hash}`, namespace: 'default', labels: { 'controller-revision-hash': hash } },
        ownerReferences: [{ kind: 'DaemonSet', name: 'till' }],
      },
      data: { spec: { template: { spec: { containers: [{ image }] } } } },
      revision: number,
    }) as unknown as ControllerRevision;
  const rollout = (hash: string) =>
    ({ metadata: { name: 'till', namespace: 'default' }, status: { revision: hash } }) as unknown as Rollout;
  const revisions = [revision(2, 'b', 'till:2'), revision(1, 'a', 'till:1'), revision(3, 'c', 'till:2')];
  for (const [hash, text] of [
    ['b', 'till:1 → till:2'],
    ['a', 'till:1'],
    ['c', 'till:2'],
    ['gone', ''],
  ] as const) {
    test(`the rollout of revision ${hash} shows "${text}"`, () =>
      assert.equal(rolloutVersions(rollout(hash), revisions), text));
  }
});

describe('the activity', () => {
  const event = (verb: string, objectRef?: AuditEvent['objectRef']) =>
    activitySentence({ verb, user: { username: 'ann' }, objectRef, requestURI: '/x' } as AuditEvent);
  const text = ({ who, did, kind, object, href }: ReturnType<typeof event>) =>
    `${who} ${did} ${kind} ${object} ${href}`.trim();
  const till = { resource: 'daemonsets', namespace: 'default', name: 'till' };
  for (const [shown, words] of [
    [event('patch', till), 'ann changed DaemonSet default/till /daemonsets/default/till'],
    [event('delete', till), 'ann deleted DaemonSet default/till'],
    [
      event('create', { resource: 'daemonjobs', namespace: 'a', name: 'scan' }),
      'ann created DaemonJob a/scan /jobs/a/scan',
    ],
    [
      event('patch', { resource: 'hostvalues', namespace: 'a', name: 'kiel' }),
      'ann changed HostValues a/kiel /values/a/kiel',
    ],
    [event('patch', { resource: 'nodes', name: 'kiel-1' }), 'ann changed host kiel-1 /hosts/kiel-1'],
    [
      event('create', { resource: 'pods', namespace: 'a', name: 'p', subresource: 'exec' }),
      'ann ran a command in Pod a/p /pods/a/p',
    ],
    [
      event('patch', { resource: 'nodes', name: 'kiel-1', subresource: 'status' }),
      'ann changed status of host kiel-1 /hosts/kiel-1',
    ],
    [event('get', { resource: 'secrets', namespace: 'a', name: 's' }), 'ann read Secret a/s'],
    [event('post'), 'ann requested (post)  /x'],
  ] as const) {
    test(`reads "${words}"`, () => assert.equal(text(shown), words));
  }

  const image = { path: 'spec.template.spec.containers[main].image', before: 'r/till:1', after: 'r/till:2' };
  const request = { id: 4, verb: 'approve', targets: ['tenth'], reason: 'fine', user: 'ann', time: '' };
  const ofRollout = (verb: string) => ({ verb, objectRef: { resource: 'rollouts' } });
  for (const [verb, fields, omitted, words] of [
    ['patch', [image], 0, 'image of main till:1 → till:2'],
    ['patch', [{ path: 'spec.a', after: 1 }, image], 1, 'image of main till:1 → till:2, and 2 more fields'],
    ['patch', [{ path: 'metadata.labels.site', before: 'a', after: 'b' }], 0, 'label site a → b'],
    ['patch', [{ path: 'metadata.labels[x.y/z]', before: 'a' }], 0, 'label x.y/z removed'],
    ['patch', [{ path: 'spec.taints', after: [{}] }], 0, 'spec.taints added'],
    ['patch', [{ path: 'spec.unschedulable', after: true }], 0, 'spec.unschedulable set to true'],
    ['patch', [{ path: 'spec.requests[4]', after: request }], 0, 'approve tenth “fine”'],
    ['create', [image], 0, ''],
  ] as const) {
    test(`sums a ${verb} up as "${words}"`, () =>
      assert.equal(changeSummary(ofRollout(verb), { fields: [...fields], omitted }), words));
  }
  for (const [resource, after, words] of [
    ['widgets', { name: 'x', targets: 'y' }, 'spec.requests[x] added'],
    ['widgets', null, 'spec.requests[x] added'],
    ['widgets', request, 'spec.requests[x] added'],
    ['rollouts', { verb: 'approve', targets: 'y' }, 'spec.requests[x] added'],
    ['rollouts', null, 'spec.requests[x] added'],
    ['rollouts', { name: 'x' }, 'spec.requests[x] added'],
  ] as const) {
    test(`${JSON.stringify(after)} in ${resource} is no request to a rollout of Everynode`, () => {
      const fields = [{ path: 'spec.requests[x]', after }];
      assert.equal(changeSummary({ verb: 'patch', objectRef: { resource } }, { fields, omitted: 0 }), words);
    });
  }
  test('a write without a recorded change, or with an unreadable one, has none', () => {
    const annotated = (text?: string) =>
      recordedChangesOf({ annotations: text ? { [CHANGES_ANNOTATION]: text } : {} } as AuditEvent);
    assert.equal(annotated(), undefined);
    for (const text of [
      '{',
      'null',
      '7',
      '{}',
      '{"fields":"x","omitted":0}',
      '{"fields":[null],"omitted":0}',
    ])
      assert.equal(annotated(text), undefined, text);
    assert.deepEqual(annotated('{"fields":[],"omitted":2}'), { fields: [], omitted: 2 });
    assert.equal(changeSummary(ofRollout('patch'), undefined), '');
  });
  for (const [query, filters] of [
    ['user=ann&object=shop/till&range=today', { user: 'ann', namespace: 'shop', name: 'till' }],
    ['object=kiel-1&verb=patch', { verb: 'patch', name: 'kiel-1' }],
    ['object=&name=x', { name: 'x' }],
  ] as const) {
    test(`filters ?${query}`, () =>
      assert.deepEqual(Object.fromEntries(auditFilters(new URLSearchParams(query))), filters));
  }
  test('the command with the same filter has each value as one word', () => {
    const filters = auditFilters(new URLSearchParams('user=x; reboot&resource=nodes'));
    assert.equal(auditCommand(filters), "everynode audit --user 'x; reboot' --resource nodes");
  });

  const now = new Date(2026, 2, 15, 10, 30);
  const at = (...date: [number, number, number]) => new Date(...date).toISOString();
  test('yesterday is a day of the browser’s calendar, and all has no limits', () => {
    assert.deepEqual(rangeQuery('yesterday', now), { since: at(2026, 2, 14), until: at(2026, 2, 15) });
    assert.deepEqual(rangeQuery('all', now), {});
    assert.deepEqual(rangeQuery('today', now), { since: at(2026, 2, 15) });
  });
});
