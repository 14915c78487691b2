/** The check that a steering request names existing Nodes is added to the checks of the request, and replaces none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CustomKinds } from '../../../coordinator/kinds/custom-resources/custom-kinds.js';
import { rolloutKind } from '../../../coordinator/kinds/index.js';
import { withAdmissionReviews } from '../../../coordinator/registry/admission/admission-reviews.js';
import type { WriteOptions } from '../../../coordinator/registry/registry-options.js';
import type { Store } from '../../../coordinator/store/store.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';

const NO_NODES = {
  store: { list: async () => ({ items: [] }) } as unknown as Store,
  kinds: [],
  customKinds: new CustomKinds(),
};
const user = { username: 'kim', groups: [] } as unknown as NonNullable<WriteOptions['user']>;
const rollout = { metadata: { name: 'web' } } as Rollout;
const refuse: NonNullable<WriteOptions['review']> = () => {
  throw new Error('refused by an earlier check');
};

for (const current of [undefined, rollout]) {
  test(`an earlier check of a Rollout's ${current ? 'update' : 'creation'} still runs`, async () => {
    const { review } = await withAdmissionReviews(NO_NODES, rolloutKind, 'default', { user, review: refuse });
    assert.throws(() => review?.(rolloutKind, rollout, current), /refused by an earlier check/);
  });
}
