/** Revision numbers in annotations of ReplicaSets (`deploymentutil.SetNewReplicaSetAnnotations`). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  nextRevision,
  revisionAnnotations,
} from '../../../coordinator/decisions/workloads/deployment-revisions.js';
import type { Deployment, ReplicaSet } from '../../../shared/kube/workloads/workload-types.js';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';

const DEPLOYMENT = { metadata: { name: 'web' } } as Deployment;

function replicaSet(revision?: string, history?: string): ReplicaSet {
  const annotations = {
    ...(revision === undefined ? {} : { [REVISION]: revision }),
    ...(history === undefined ? {} : { [HISTORY]: history }),
  };
  return { metadata: { name: 'web-1', annotations } } as unknown as ReplicaSet;
}

describe('revisions of a Deployment', () => {
  const NEXT: [string, number][] = [
    ['2', 3],
    ['9999999999999999999999', 1],
    ['1e3', 1],
    ['12abc', 1],
    ['', 1],
    ['9007199254740992', 1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-4', 1],
  ];
  for (const [text, next] of NEXT) {
    test(`after an old revision "${text}" comes ${next}, and writing it once is enough`, () => {
      assert.equal(nextRevision([replicaSet(text)]), next);
      const written = revisionAnnotations(DEPLOYMENT, replicaSet(), next);
      assert.equal(written[REVISION], String(next));
      const again = revisionAnnotations(DEPLOYMENT, replicaSet(written[REVISION]), next);
      assert.deepEqual(again, written);
    });
  }

  test('a revision that is used again moves to the history, an invalid one does not', () => {
    const used = revisionAnnotations(DEPLOYMENT, replicaSet('2', '1'), 4);
    assert.deepEqual(used, { [REVISION]: '4', [HISTORY]: '1,2' });
    const invalid = revisionAnnotations(DEPLOYMENT, replicaSet('9999999999999999999999', '1'), 4);
    assert.deepEqual(invalid, { [REVISION]: '4', [HISTORY]: '1' });
  });

  test('a history has at most 2,000 characters: the oldest revisions are dropped', () => {
    const numbers = Array.from({ length: 400 }, (_, index) => String(1000 + index));
    const full = numbers.join(',');
    assert.equal(full.length, 1999);
    const { [HISTORY]: history = '' } = revisionAnnotations(DEPLOYMENT, replicaSet('5000', full), 5001);
    assert.equal(history, [...numbers.slice(1), '5000'].join(','));
    const { [HISTORY]: short } = revisionAnnotations(DEPLOYMENT, replicaSet('7', 'x'.repeat(3000)), 8);
    assert.equal(short, '7');
  });
});
