/** The coordinators of the fleet as objects. */
import { hostname } from 'node:os';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { VERSION } from '../../../shared/process/release-version.js';
import type { ApiDeps } from '../http/api-context.js';

const API_VERSION = `${FLEET_GROUP}/v1`;

/** `name`: of the object, or the id of the member. Throws ApiError 404. */
export async function findCoordinator(deps: ApiDeps, name = ''): Promise<Coordinator> {
  const found = (await listCoordinators(deps)).find(
    ({ metadata, spec }) => metadata.name === name || spec.memberId === name,
  );
  if (found) return found;
  const details = { group: FLEET_GROUP, kind: 'coordinators', name };
  throw new ApiError('NotFound', `coordinators.${FLEET_GROUP} "${name}" not found`, details);
}

/** A single coordinator is one object without etcd. Throws ApiError 503. */
export async function listCoordinators({
  coordinators,
  joinFacts,
}: ApiDeps): Promise<readonly Coordinator[]> {
  return coordinators ? coordinators.list() : [soleCoordinator((await joinFacts()).server)];
}

/** A single coordinator has no lag and nobody to compare its clock with. */
function soleCoordinator(server: string): Coordinator {
  const creationTimestamp = `${new Date(performance.timeOrigin).toISOString().slice(0, 19)}Z`;
  const leads = {
    type: 'Ready',
    status: 'True',
    reason: 'Leads',
    message: 'It serves all requests.',
  } as const;
  return {
    ...{ kind: 'Coordinator', apiVersion: API_VERSION },
    metadata: { name: hostname().toLowerCase() || 'coordinator', creationTimestamp },
    spec: { server },
    status: { role: 'Leader', version: VERSION, lagRecords: 0, problems: [], conditions: [leads] },
  };
}
