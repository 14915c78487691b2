/** v1 ServiceAccount: the identity of Pods and programs. */
import type { ServiceAccount } from '../../../shared/kube/access/service-account-types.js';
import { inertKind } from '../inert-kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';

export const serviceAccountKind = inertKind<ServiceAccount>({
  group: '',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  namespaced: true,
  schema: 'io.k8s.api.core.v1.ServiceAccount',
  warnings: () => [],
  subresources: {
    token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
  },
  columns: [
    NAME_COLUMN,
    column(
      'Secrets',
      'integer',
      'Number of Secrets that it references.',
      ({ secrets }) => secrets?.length ?? 0,
    ),
    AGE_COLUMN,
  ],
});
