/** v1 Node. The hub creates it at an agent's first hello, unless a client created it before. */

import {
  AGENT_METER_ANNOTATION,
  LINK_METER_ANNOTATION,
} from '../../../shared/kube/fleet/host-meter-types.js';
import { HEARTBEAT_ANNOTATION, parseHeartbeatSeconds } from '../../../shared/kube/nodes/heartbeat-config.js';
import { type Node, type NodeAddress, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Kind, WriteContext } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, UNKNOWN, wideColumn } from '../table-column.js';
import { keepServerAnnotation } from '../validation/object-meta-validation.js';
import { validateNode, validateNodeStatus, validateNodeUpdate } from './node-validation.js';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

/** Returns `Ready`, `NotReady` or `Unknown`, with `,SchedulingDisabled` for a cordoned node. */
function statusText(node: Node): string {
  const ready = findCondition(node.status?.conditions, 'Ready');
  const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (node.spec?.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

function rolesText(node: Node): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX))
      return key.length > ROLE_PREFIX.length ? [key.slice(ROLE_PREFIX.length)] : [];
    return key === ROLE_LABEL && value !== '' ? [value] : [];
  });
  return roles.length > 0 ? [...new Set(roles)].sort().join(',') : NONE;
}

function addressText(type: NodeAddress['type']): (node: Node) => string {
  return (node) => node.status?.addresses?.find((address) => address.type === type)?.address ?? NONE;
}

function setDefaults(node: Node): void {
  node.spec ??= {};
}

function paceWarnings({ annotations }: Node['metadata']): string[] {
  const text = annotations?.[HEARTBEAT_ANNOTATION];
  if (text === undefined || parseHeartbeatSeconds(text) !== undefined) return [];
  return [
    `metadata.annotations[${HEARTBEAT_ANNOTATION}]: "${text}" is not a whole number from 1 to 3600; it has no effect`,
  ];
}

/** Removes annotations that only reads add; a client may send them back in a write. */
function dropMeters({ metadata: { annotations } }: Node): void {
  delete annotations?.[LINK_METER_ANNOTATION];
  delete annotations?.[AGENT_METER_ANNOTATION];
}

/** Agents report the status. A creator may set it, like the kubelet upstream. */
function prepareForUpdate(next: Node, current: Node, context: WriteContext): void {
  keepServerAnnotation(RESYNCED_IN_EPOCH, next, current, context);
  dropMeters(next);
  next.status = current.status ?? {};
}

function prepareForStatusUpdate(next: Node, current: Node, context: WriteContext): void {
  keepServerAnnotation(RESYNCED_IN_EPOCH, next, current, context);
  dropMeters(next);
  next.spec = current.spec ?? {};
}

export const nodeKind: Kind<Node> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  resource: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  categories: [],
  namespaced: false,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.Node',
  subresources: {
    // Like upstream's, but only to read: a kubelet's port is not a way into containers here.
    proxy: { group: '', version: 'v1', kind: 'NodeProxyOptions', verbs: ['get'] },
    status: { group: '', version: 'v1', kind: 'Node', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Status', 'string', 'Whether the node is ready to run Pods.', statusText),
    column('Roles', 'string', 'Roles from its labels.', rolesText),
    AGE_COLUMN,
    column(
      'Version',
      'string',
      "The agent's version.",
      (node) => node.status?.nodeInfo?.kubeletVersion ?? '',
    ),
    wideColumn('Internal-IP', 'string', 'Internal IP address.', addressText('InternalIP')),
    wideColumn('External-IP', 'string', 'External IP address.', addressText('ExternalIP')),
    wideColumn(
      'OS-Image',
      'string',
      'Operating system.',
      (node) => node.status?.nodeInfo?.osImage || UNKNOWN,
    ),
    wideColumn(
      'Kernel-Version',
      'string',
      'Kernel version.',
      (node) => node.status?.nodeInfo?.kernelVersion || UNKNOWN,
    ),
    wideColumn(
      'Container-Runtime',
      'string',
      'Container engine and its version.',
      (node) => node.status?.nodeInfo?.containerRuntimeVersion || UNKNOWN,
    ),
  ],
  fields: { 'spec.unschedulable': (node) => String(node.spec?.unschedulable ?? false) },
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate: dropMeters,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  validateStatusUpdate: validateNodeStatus,
  warnings: ({ metadata }) => paceWarnings(metadata),
};
