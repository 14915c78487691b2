/** The Deployment and ReplicaSet controllers: a queue for each, and the changes that fill them. */
import { controllerOf, type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { Worker } from '../queue/reconcile-worker.js';
import { queueOwners } from './claimed-objects.js';
import { DeploymentReconciler } from './deployment-reconciler.js';
import { ReplicaSetReconciler } from './replicaset-reconciler.js';
import type { WorkloadDeps } from './workload-deps.js';

/** Upstream's number of concurrent Deployments and ReplicaSets. */
const AT_ONCE = 5;

interface ControllersDeps extends Omit<WorkloadDeps, 'recordEvent'> {
  recordDeploymentEvent: RecordEvent;
  recordReplicaSetEvent: RecordEvent;
}

/** Call it when the informers have synced. Without Deployments and ReplicaSets, a change of a Pod costs one comparison. */
export function startWorkloadControllers(deps: ControllersDeps): {
  onClockStep(): void;
  stop(): Promise<void>;
} {
  const { informers, clock, log, queueMeter } = deps;
  const worker = { informers, clock, log, concurrency: AT_ONCE, ...(queueMeter ? { queueMeter } : {}) };
  const deployments = new DeploymentReconciler({ ...deps, recordEvent: deps.recordDeploymentEvent });
  const replicaSets = new ReplicaSetReconciler({ ...deps, recordEvent: deps.recordReplicaSetEvent });
  const deploymentWorker = new Worker({
    name: 'deployment',
    reconcile: (key, context) => deployments.reconcile(key, context),
    ...worker,
  });
  const replicaSetWorker = new Worker({
    name: 'replicaset',
    reconcile: (key, context) => replicaSets.reconcile(key, context),
    ...worker,
  });
  const queueDeployment = ({ metadata }: KubeObject) => deploymentWorker.queue.add(refText(metadata));
  const queueReplicaSet = ({ metadata }: KubeObject) => replicaSetWorker.queue.add(refText(metadata));
  informers.deployments.onChange(({ current }) => current && queueDeployment(current));
  informers.replicaSets.onChange((change) => {
    if (change.current) queueReplicaSet(change.current);
    queueOwners(informers.deployments, change, queueDeployment);
  });
  informers.pods.onChange((change) => {
    queueOwners(informers.replicaSets, change, queueReplicaSet);
    // Recreate waits for the last Pod of an old ReplicaSet.
    if (change.current || !change.previous) return;
    const owner = controllerOf(change.previous.metadata);
    const replicaSet = owner && informers.replicaSets.byUid(owner.uid);
    if (replicaSet) queueOwners(informers.deployments, { previous: replicaSet }, queueDeployment);
  });
  const queueAll = () => {
    for (const deployment of informers.deployments.list()) queueDeployment(deployment);
    for (const replicaSet of informers.replicaSets.list()) queueReplicaSet(replicaSet);
  };
  return {
    onClockStep: queueAll,
    stop: async () => {
      await Promise.all([deploymentWorker.stop(), replicaSetWorker.stop()]);
    },
  };
}
