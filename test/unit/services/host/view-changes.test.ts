import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { afterEndpointChanges } from '../../../../agent/decisions/services/view-changes.js';
import { remoteEndpoint, serviceView } from '../../../harness/services/service-views.js';

const VIEW = serviceView('web', { remote: [1, 2, 3].map((id) => remoteEndpoint(id)) });
const NOTHING = { set: [], removed: [], ready: [], terminating: [], notReady: [] };
const statesOf = ({ remote }: typeof VIEW) => remote.map(({ id, state }) => [id, state]);

describe('changes of remote endpoints', () => {
  test('endpoints are added, replaced, removed and change their state', () => {
    const { view, isComplete } = afterEndpointChanges(VIEW, {
      set: [remoteEndpoint(4), remoteEndpoint(2, { state: 'terminating' })],
      removed: [1],
      ready: [],
      terminating: [],
      notReady: [3],
    });
    assert.equal(isComplete, true);
    assert.deepEqual(statesOf(view), [
      [2, 'terminating'],
      [3, 'notReady'],
      [4, 'ready'],
    ]);
  });

  test('an endpoint that becomes ready again is used again', () => {
    const down = afterEndpointChanges(VIEW, { ...NOTHING, terminating: [2], notReady: [3] }).view;
    const up = afterEndpointChanges(down, { ...NOTHING, ready: [2, 3] }).view;
    assert.deepEqual(statesOf(up), statesOf(VIEW));
  });

  for (const list of ['removed', 'ready', 'terminating', 'notReady'] as const)
    test(`an unknown endpoint in ${list} makes the view incomplete`, () => {
      const { view, isComplete } = afterEndpointChanges(VIEW, { ...NOTHING, [list]: [9] });
      assert.deepEqual([isComplete, statesOf(view)], [false, statesOf(VIEW)]);
    });
});
