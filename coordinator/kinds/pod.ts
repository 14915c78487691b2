/** v1 Pod. */
import type { Pod } from '../../shared/kube/pod.js';
import type { Kind } from './kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from './table-column.js';
import { STANDARD_VERBS, STATUS_VERBS } from './verbs.js';

function prepareForCreate(pod: Pod): void {
  pod.status = { phase: 'Pending' };
}

function prepareForUpdate(next: Pod, current: Pod): void {
  next.status = current.status ?? {};
}

function prepareForStatusUpdate(next: Pod, current: Pod): void {
  next.spec = current.spec;
}

export const podKind: Kind<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  resource: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.Pod',
  subresources: {
    binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
    eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
    log: { group: '', version: 'v1', kind: 'Pod', verbs: ['get'] },
    status: { group: '', version: 'v1', kind: 'Pod', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Status', 'string', 'Where the Pod is in its life.', (pod) => pod.status?.phase ?? ''),
    AGE_COLUMN,
    wideColumn('IP', 'string', 'Address of the Pod.', (pod) => pod.status?.podIP || NONE),
    wideColumn('Node', 'string', 'Node it is bound to.', (pod) => pod.spec.nodeName || NONE),
  ],
  fields: {
    'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
    'spec.schedulerName': (pod) => pod.spec.schedulerName ?? '',
    'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec.hostNetwork ?? false),
    'status.phase': (pod) => pod.status?.phase ?? '',
    'status.podIP': (pod) => pod.status?.podIP ?? '',
    'status.nominatedNodeName': (pod) => pod.status?.nominatedNodeName ?? '',
  },
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate: () => [],
  validateUpdate: () => [],
  validateStatusUpdate: () => [],
  warnings: () => [],
  defaultGracePeriodSeconds: (pod) => pod.spec.terminationGracePeriodSeconds ?? 30,
};
