/** The fields that ownership does not track. */
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

/** Type names and fields that the server writes (`managedfields/internal/stripmeta.go`). */
const UNTRACKED = [
  ['f:apiVersion'],
  ['f:kind'],
  ...UNTRACKED_METADATA.map((name) => ['f:metadata', `f:${name}`]),
];

const UNTRACKED_ON_MAIN = setOfPaths(UNTRACKED);
const UNTRACKED_WITHOUT_STATUS = setOfPaths([...UNTRACKED, ['f:status']]);
const UNTRACKED_ON_STATUS = setOfPaths([...UNTRACKED, ['f:spec']]);

/** The path `metadata` without its fields: every object has it. */
export const METADATA_ITSELF = setOfPaths([['f:metadata']]);

/**
 * Returns the untracked fields, and those that a write to this subresource cannot change (`rest.ResetFieldsStrategy`).
 */
export function untrackedFields(kind: Kind, subresource: string | undefined): FieldSet {
  if (subresource === 'status') return UNTRACKED_ON_STATUS;
  return kind.prepareForStatusUpdate || kind.hasOwnStatus ? UNTRACKED_WITHOUT_STATUS : UNTRACKED_ON_MAIN;
}

/**
 * Go's zero value of all types together: structs that are not pointers, and lists without omitempty. Creations are
 * compared with it, so that these paths have no owner. Fields that a kind lacks make no difference.
 */
export const ZERO_OBJECT = {
  metadata: {},
  spec: {
    containers: null,
    template: { metadata: {}, spec: { containers: null } },
    strategy: {},
    updateStrategy: {},
  },
  status: { daemonEndpoints: { kubeletEndpoint: {} }, loadBalancer: {}, nodeInfo: {} },
  source: {},
};
