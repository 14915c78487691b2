/** Makes the Node of an agent that says hello for the first time. */
import type { Node } from '../../shared/kube/node.js';
import { ApiError } from '../../shared/kube/status.js';
import type { Hello } from '../../shared/link/messages.js';
import type { Informers } from '../informers/informer.js';
import { nodeKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';

export interface RegistrationParts {
  registry: Pick<Registry, 'get' | 'create'>;
  informers: Pick<Informers, 'nodes' | 'waitFor'>;
  era: string;
}

/**
 * The agent's Node, made if it is missing; undefined when it was deleted under the running agent process, which then
 * has to stay away, as upstream's kubelet does until it restarts. One that was deleted only just now may still be
 * answered: the news of that comes right after. Throws ApiError.
 */
export async function ensureNode(parts: RegistrationParts, hello: Hello): Promise<Node | undefined> {
  const { registry, informers, era } = parts;
  const known = informers.nodes.get({ name: hello.node }) ?? (await storedNode(parts, hello.node));
  if (known) return known;
  // After a restore the missing Node says nothing about anybody's wish.
  if (hello.nodeUid !== undefined && hello.era === era) return undefined;
  const record = await registry.create(nodeKind, undefined, newNode(hello));
  await informers.waitFor(record.revision);
  return record.object();
}

async function storedNode({ registry }: RegistrationParts, name: string): Promise<Node | undefined> {
  try {
    return (await registry.get(nodeKind, { name })).object();
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
    throw error;
  }
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
