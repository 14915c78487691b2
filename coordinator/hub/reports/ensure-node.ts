/** Creates the Node at an agent's first hello. Later hellos apply changes of the host's settings. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError, orUndefined } from '../../../shared/kube/objects/api-status.js';
import { type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Hello } from '../../../shared/link/messages/link-messages.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { labelsNodesMayNotSet } from '../../decisions/nodes/node-label-restriction.js';
import {
  firstRegistrationText,
  REGISTERED_ANNOTATION,
  withRegistration,
} from '../../decisions/nodes/node-registration.js';
import { mergeNodeStatus } from '../../decisions/nodes/status-merge.js';
import type { Informers } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import type { JoinRights } from '../identity/join-rights.js';
import { checkedNodeStatus } from './node-status-check.js';

export interface RegistrationDeps {
  registry: Pick<Registry, 'get' | 'create' | 'modify'>;
  informers: Pick<Informers, 'nodes' | 'waitFor'>;
  epoch: string;
  clock: Pick<Clock, 'now'>;
  /** Returns the rights that the node's join granted. */
  rightsOf: (node: string) => Promise<JoinRights>;
}

/**
 * Returns the agent's Node, and creates it if it is missing. Returns undefined if the Node was deleted while the agent
 * process ran. Like a kubelet, that agent has to be restarted before it may register again. A Node that was just
 * deleted may still be returned; its deletion is processed right after. Throws ApiError.
 */
export async function ensureNode(deps: RegistrationDeps, hello: Hello): Promise<Node | undefined> {
  const { registry, informers, epoch, clock } = deps;
  const known = informers.nodes.get({ name: hello.node }) ?? (await storedNode(deps, hello.node));
  if (known) return amended(deps, known, hello);
  // After a restore, a missing Node does not mean that an operator deleted it.
  if (hello.nodeUid !== undefined && hello.epoch === epoch) return undefined;
  const rights = await deps.rightsOf(hello.node);
  refuseProtectedLabels(hello, rights);
  const node = newNode(hello, rights, toTimestamp(clock.now()));
  const record = await registry.create(nodeKind, undefined, node);
  await informers.waitFor(record.revision);
  return record.object();
}

async function amended(deps: RegistrationDeps, known: Node, hello: Hello): Promise<Node> {
  const { register } = hello;
  if (!withRegistration(known, register)) return known;
  refuseProtectedLabels(hello, await deps.rightsOf(hello.node));
  const record = await deps.registry.modify(nodeKind, { name: known.metadata.name }, (node) => {
    const next = withRegistration(node, register);
    if (!next) return false;
    node.metadata = next.metadata;
    if (next.spec) node.spec = next.spec;
    return undefined;
  });
  await deps.informers.waitFor(record.revision);
  return record.object();
}

async function storedNode({ registry }: RegistrationDeps, name: string): Promise<Node | undefined> {
  return orUndefined(async () => (await registry.get(nodeKind, { name })).object());
}

/** Uses the wording of the admission plugin NodeRestriction. */
function refuseProtectedLabels({ node, register }: Hello, { anyLabels }: JoinRights): void {
  const forbidden = anyLabels ? [] : labelsNodesMayNotSet(register.labels);
  if (forbidden.length === 0) return;
  throw new ApiError(
    'Forbidden',
    `nodes "${node}" is forbidden: is not allowed to set the following labels: ${forbidden.join(', ')}`,
  );
}

/** Conditions are dated by `now` of the coordinator, because the host's clock may be wrong. */
function newNode({ node, register, status: reported }: Hello, rights: JoinRights, now: Timestamp): Node {
  const { status } = checkedNodeStatus(reported, undefined);
  const { operatingSystem, architecture } = status.nodeInfo ?? {};
  const assigned = {
    ...(operatingSystem ? { 'kubernetes.io/os': operatingSystem } : {}),
    ...(architecture ? { 'kubernetes.io/arch': architecture } : {}),
    ...rights.labels,
  };
  const labels = { 'kubernetes.io/hostname': node, ...register.labels, ...assigned };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node,
      labels,
      annotations: { [REGISTERED_ANNOTATION]: firstRegistrationText(register, assigned) },
    },
    spec: register.taints.length > 0 ? { taints: register.taints } : {},
    status: mergeNodeStatus(undefined, status, now),
  };
}
