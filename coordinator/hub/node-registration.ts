/** Makes the Node of an agent that says hello for the first time. */
import type { Node } from '../../shared/kube/node.js';
import { ApiError } from '../../shared/kube/status.js';
import type { Hello } from '../../shared/link/messages.js';
import { nodeKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';

/**
 * The agent's Node, made if `known` is absent and the store has none; undefined when it was deleted under the running agent process, which then
 * has to stay away, as upstream's kubelet does until it restarts. Throws ApiError.
 */
export async function ensureNode(
  registry: Pick<Registry, 'get' | 'create'>,
  hello: Hello,
  era: string,
  known: Node | undefined,
): Promise<Node | undefined> {
  if (known) return known;
  try {
    return (await registry.get(nodeKind, { name: hello.node })).object();
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
  }
  // After a restore the missing Node says nothing about anybody's wish.
  if (hello.nodeUid !== undefined && hello.era === era) return undefined;
  return (await registry.create(nodeKind, undefined, newNode(hello))).object();
}

function newNode({ node, register, status }: Hello): Node {
  const { operatingSystem, architecture } = status.nodeInfo ?? {};
  const labels = {
    ...register.labels,
    'kubernetes.io/hostname': register.labels['kubernetes.io/hostname'] ?? node,
    ...(operatingSystem ? { 'kubernetes.io/os': operatingSystem } : {}),
    ...(architecture ? { 'kubernetes.io/arch': architecture } : {}),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: node, labels },
    spec: register.taints.length > 0 ? { taints: register.taints } : {},
    status,
  };
}
