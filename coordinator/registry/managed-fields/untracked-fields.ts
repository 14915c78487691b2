/** Which fields ownership is told of, and which not. */
import type { Kind } from '../../kinds/kind.js';
import { type FieldSet, setOfPaths } from './field-set.js';

const UNTRACKED_METADATA = [
  'name',
  'namespace',
  'uid',
  'selfLink',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
];

/** The type's name and what the server writes itself (`managedfields/internal/stripmeta.go`). */
const UNTRACKED = [
  ['f:apiVersion'],
  ['f:kind'],
  ...UNTRACKED_METADATA.map((name) => ['f:metadata', `f:${name}`]),
];

const UNTRACKED_ON_MAIN = setOfPaths(UNTRACKED);
const UNTRACKED_WITHOUT_STATUS = setOfPaths([...UNTRACKED, ['f:status']]);
const UNTRACKED_ON_STATUS = setOfPaths([...UNTRACKED, ['f:spec']]);

/** `metadata` itself, but not what lies in it: every object has it. */
export const METADATA_ITSELF = setOfPaths([['f:metadata']]);

/** Fields that a write to this subresource leaves as they are (`rest.ResetFieldsStrategy`), and those above. */
export function untrackedFields(kind: Kind, subresource: string | undefined): FieldSet {
  if (subresource === 'status') return UNTRACKED_ON_STATUS;
  return kind.prepareForStatusUpdate ? UNTRACKED_WITHOUT_STATUS : UNTRACKED_ON_MAIN;
}

/**
 * What Go's zero value of every type has: structs that are no pointers, lists that are not left out. A creation is
 * compared with it, so these places themselves have no owner. What a kind lacks of it makes no difference.
 */
export const ZERO_OBJECT = {
  metadata: {},
  spec: {
    containers: null,
    template: { metadata: {}, spec: { containers: null } },
    updateStrategy: {},
  },
  status: { daemonEndpoints: { kubeletEndpoint: {} }, loadBalancer: {}, nodeInfo: {} },
  source: {},
};
