/** coordination.k8s.io/v1 Lease. Node Leases are computed from the liveness of nodes by a reader. */
import type { Lease } from '../../../shared/kube/objects/event-types.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { invalidValue } from '../validation/field-error.js';

function validate({ spec }: Lease): FieldError[] {
  const duration = spec?.leaseDurationSeconds;
  return [
    ...(duration !== undefined && duration <= 0
      ? [invalidValue('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
      : []),
    ...validateNonNegative(spec?.leaseTransitions, 'spec.leaseTransitions'),
  ];
}

export const leaseKind: Kind<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  singular: 'lease',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.coordination.v1.Lease',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Holder', 'string', 'Current holder of the lease.', (lease) => lease.spec?.holderIdentity ?? ''),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate,
  validateUpdate: () => [],
  warnings: () => [],
};
