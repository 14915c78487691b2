/** v1 Pod. */
import { START_ANNOTATION } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  ATTEMPT_ANNOTATION,
  ENDED_ANNOTATION,
  RUN_ANNOTATION,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { HANDOVER_ANNOTATION } from '../../../shared/kube/handovers/host-handover.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { DEFAULT_GRACE_SECONDS, setPodDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import type { Kind, WriteContext } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { keepServerAnnotation } from '../validation/object-meta-validation.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { prepareForEphemeralContainers, validateEphemeralContainersUpdate } from './ephemeral-containers.js';
import { secretEnvironmentWarnings, unsupportedFields } from './pod-spec-warnings.js';
import { podStatusText, readinessGatesText, readyText, restartsText } from './pod-status-text.js';
import { validatePod, validatePodCreate, validatePodStatus, validatePodUpdate } from './pod-validation.js';

/** Annotations that only controllers write. A host obeys them. */
const SERVER_ANNOTATIONS = [HANDOVER_ANNOTATION, ENDED_ANNOTATION];
/**
 * Annotations of a DaemonJob's Pod that only its controller changes. Otherwise a user could make the job count the Pod
 * wrongly, or make its host start the Pod before its time.
 */
const DAEMON_JOB_ANNOTATIONS = [ATTEMPT_ANNOTATION, RUN_ANNOTATION, START_ANNOTATION];

/** `pkg/registry/core/pod/strategy.go`: a new Pod is Pending. Its QoS class follows from its resources. */
function prepareForCreate(pod: Pod): void {
  // No creator may set these annotations. Restored Pods get their metadata back later.
  for (const key of SERVER_ANNOTATIONS) delete pod.metadata.annotations?.[key];
  pod.metadata.generation = 1;
  pod.status = { phase: 'Pending', qosClass: qualityOfService(pod.spec) };
}

function keepAnnotations(next: Pod, current: Pod, context: WriteContext): void {
  for (const key of SERVER_ANNOTATIONS) keepServerAnnotation(key, next, current, context);
  if (controllerOf(current.metadata)?.kind !== 'DaemonJob') return;
  for (const key of DAEMON_JOB_ANNOTATIONS) keepServerAnnotation(key, next, current, context);
}

function prepareForUpdate(next: Pod, current: Pod, context: WriteContext): void {
  keepAnnotations(next, current, context);
  // Another controller could not withdraw this handover. An adopting controller requests its own.
  const [before, now] = [current, next].map(({ metadata }) => controllerOf(metadata)?.uid);
  if (before !== now) delete next.metadata.annotations?.[HANDOVER_ANNOTATION];
  keepPriority(next, current);
  next.status = current.status ?? {};
  const changed = !semanticallyEqual(next.spec, current.spec);
  next.metadata.generation = (current.metadata.generation ?? 0) + (changed ? 1 : 0);
}

/** A body without these fields keeps what admission has set at creation (plugin/pkg/admission/priority). */
function keepPriority(next: Pod, { spec }: Pod): void {
  const { priority, preemptionPolicy } = spec;
  if (priority !== undefined) next.spec.priority ??= priority;
  if (preemptionPolicy !== undefined) next.spec.preemptionPolicy ??= preemptionPolicy;
}

/** Status writes must not change owners. */
function prepareForStatusUpdate(next: Pod, current: Pod, context: WriteContext): void {
  keepAnnotations(next, current, context);
  next.spec = current.spec;
  if (current.metadata.ownerReferences) next.metadata.ownerReferences = current.metadata.ownerReferences;
  else delete next.metadata.ownerReferences;
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
    attach: { group: '', version: 'v1', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
    binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
    exec: { group: '', version: 'v1', kind: 'PodExecOptions', verbs: ['create', 'get'] },
    portforward: { group: '', version: 'v1', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
    ephemeralcontainers: { group: '', version: 'v1', kind: 'Pod', verbs: STATUS_VERBS },
    eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
    log: { group: '', version: 'v1', kind: 'Pod', verbs: ['get'] },
    status: { group: '', version: 'v1', kind: 'Pod', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Ready', 'string', 'Containers that are ready, of all.', readyText),
    column('Status', 'string', 'Where the Pod is in its life.', podStatusText),
    column('Restarts', 'string', 'How often containers were started again.', restartsText),
    AGE_COLUMN,
    wideColumn(
      'IP',
      'string',
      'Address of the Pod.',
      (pod) => pod.status?.podIPs?.[0]?.ip || pod.status?.podIP || NONE,
    ),
    wideColumn('Node', 'string', 'Node it is bound to.', (pod) => pod.spec.nodeName || NONE),
    wideColumn(
      'Nominated Node',
      'string',
      'Node that is being cleared for it.',
      (pod) => pod.status?.nominatedNodeName || NONE,
    ),
    wideColumn('Readiness Gates', 'string', 'Its own conditions of readiness that hold.', readinessGatesText),
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
  setDefaults: setPodDefaults,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  prepareForEphemeralContainers,
  validateEphemeralContainersUpdate,
  validateCreate: validatePodCreate,
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatus,
  warnings: ({ spec }) => [...unsupportedFields(spec, 'spec'), ...secretEnvironmentWarnings(spec, 'spec')],
  defaultGracePeriodSeconds: (pod) => pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
};
