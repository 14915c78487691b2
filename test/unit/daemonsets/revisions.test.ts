import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  revisionHistory,
  revisionsToTrim,
} from '../../../coordinator/decisions/daemonsets/revision-history.js';
import {
  newRevision,
  revisionData,
  revisionHash,
} from '../../../coordinator/decisions/daemonsets/template-revision.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';

function withImage(image: string): DaemonSet {
  const set = daemonSet('web');
  set.spec.template.spec.containers = [{ name: 'app', image }];
  return set;
}

function revisionOf(image: string, number: number): ControllerRevision {
  return newRevision(withImage(image), number);
}

test('revision data is compact, sorted, and contains the fields that Go always writes', () => {
  const set = withImage('app:1');
  set.spec.template.metadata = { labels: { b: '', app: 'web' }, creationTimestamp: null };
  assert.equal(
    JSON.stringify(revisionData(set.spec.template)),
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web","b":""}},' +
      '"spec":{"containers":[{"image":"app:1","name":"app","resources":{}}],"securityContext":{}}}}}',
  );
});

test('fields that Go omits do not change the revision', () => {
  const plain = withImage('app:1').spec.template;
  const wordy = structuredClone(plain);
  Object.assign(wordy.spec, { hostNetwork: false, nodeSelector: {}, tolerations: [], hostname: '' });
  assert.deepEqual(revisionData(wordy), revisionData(plain));
});

test('quantities are written as Go writes them', () => {
  const template = withImage('app:1').spec.template;
  const env = [{ name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }];
  const resources = { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { cpu: 1 } };
  template.spec.containers = [{ name: 'app', image: 'app:1', env, resources }];
  const text = JSON.stringify(revisionData(template));
  assert.match(text, /"limits":\{"cpu":"500m","memory":"1Gi"\},"requests":\{"cpu":"1"\}/);
  assert.match(text, /"resourceFieldRef":\{"divisor":"0","resource":"limits.cpu"\}/);
});

test('data with another meaning is kept', () => {
  const template = withImage('app:1').spec.template;
  template.spec.securityContext = { runAsNonRoot: false, runAsUser: 0 };
  assert.match(JSON.stringify(revisionData(template)), /"runAsNonRoot":false,"runAsUser":0/);
});

test('a hash uses upstream’s alphabet and depends on template and collision count', () => {
  const { template } = withImage('app:1').spec;
  const hashes = [revisionHash(template, undefined), revisionHash(template, 0), revisionHash(template, 1)];
  for (const hash of hashes) assert.match(hash, /^[456789bcdf]{1,10}$/);
  assert.equal(new Set(hashes).size, 3);
  assert.notEqual(revisionHash(withImage('app:2').spec.template, undefined), hashes[0]);
  assert.equal(revisionHash(structuredClone(template), undefined), hashes[0]);
});

test('the first template is revision 1, a new one follows the highest existing', () => {
  assert.equal(revisionHistory(withImage('a'), []).current.revision.revision, 1);
  const { current, old } = revisionHistory(withImage('c'), [revisionOf('a', 4), revisionOf('b', 2)]);
  assert.equal(current.kind, 'create');
  assert.equal(current.revision.revision, 5);
  assert.equal(old.length, 2);
});

test('a rollback keeps the revision’s name and raises its number', () => {
  const back = revisionOf('a', 1);
  const { current } = revisionHistory(withImage('a'), [back, revisionOf('b', 2)]);
  assert.deepEqual(current, { kind: 'keep', revision: back, number: 3, duplicates: [] });
});

test('the newest revision is not renumbered', () => {
  const { current } = revisionHistory(withImage('b'), [revisionOf('a', 1), revisionOf('b', 7)]);
  assert.equal(current.kind === 'keep' && current.number, 7);
});

test('of several revisions with the same template the highest is kept', () => {
  const [low, high] = [revisionOf('a', 1), revisionOf('a', 9)];
  const { current } = revisionHistory(withImage('a'), [high, low]);
  assert.deepEqual(current, { kind: 'keep', revision: high, number: 9, duplicates: [low] });
});

test('old revisions beyond the limit are deleted, lowest first, except those in use', () => {
  const old = [3, 1, 2, 4].map((number) => revisionOf(`i${number}`, number));
  const carried = new Set([old[1]?.metadata.labels?.['controller-revision-hash'] ?? '']);
  const trimmed = revisionsToTrim(old, 2, (hash) => carried.has(hash)).map((revision) => revision.revision);
  assert.deepEqual(trimmed, [2, 3]);
  assert.deepEqual(
    revisionsToTrim(old, 10, () => false),
    [],
  );
});
