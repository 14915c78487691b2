/** A fleet and DaemonSets for placement: the same in every run. */
import type { PlacementNode, PlacementSpec } from '../../../coordinator/decisions/placement/placement.js';
import type { NodeSelectorRequirement } from '../../../shared/kube/pods/pod-placement-types.js';

const ZONES = 40;
const MODELS = 25;

/** Eight labels a node, and taints on one node in eleven. */
export function placementNodes(count: number): PlacementNode[] {
  return Array.from({ length: count }, (_, index) => placementNode(index));
}

/** The node with this number; with `turn`, after a change of one label. */
export function placementNode(index: number, turn = 0): PlacementNode {
  const labels = {
    'kubernetes.io/hostname': `node-${index}`,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': index % 3 === 0 ? 'arm64' : 'amd64',
    'topology.kubernetes.io/zone': `zone-${index % ZONES}`,
    model: `model-${(index * 7) % MODELS}`,
    tier: ['edge', 'shop', 'depot', 'lab'][(index + turn) % 4] ?? '',
    ring: `ring-${index % 10}`,
    camera: index % 5 === 0 ? 'front' : 'none',
  };
  const taints =
    index % 11 === 0
      ? [{ key: index % 22 === 0 ? 'gpu' : 'dedicated', value: 'yes', effect: 'NoSchedule' as const }]
      : [];
  return { metadata: { name: `node-${index}`, labels }, spec: { taints } };
}

/**
 * Each has a node selector, two affinity terms with five expressions and four tolerations. One node in nine matches.
 */
export function placementSpecs(count: number): PlacementSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: term(index) }, { matchExpressions: term(index + 7) }],
        },
      },
    },
    tolerations: [
      { key: index % 2 === 0 ? 'gpu' : 'dedicated', operator: 'Exists' },
      { key: 'maintenance', operator: 'Equal', value: 'soft', effect: 'NoSchedule' },
      { key: 'battery', operator: 'Exists', effect: 'NoExecute' },
      { key: 'offline', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  }));
}

function term(index: number): NodeSelectorRequirement[] {
  const zones = Array.from({ length: 12 }, (_, offset) => `zone-${(index * 5 + offset) % ZONES}`);
  return [
    { key: 'topology.kubernetes.io/zone', operator: 'In', values: zones },
    { key: 'tier', operator: 'In', values: index % 2 === 0 ? ['edge', 'shop'] : ['shop', 'depot'] },
    { key: 'model', operator: 'NotIn', values: [`model-${index % MODELS}`, `model-${(index + 3) % MODELS}`] },
    { key: 'camera', operator: 'Exists' },
    { key: 'decommissioned', operator: 'DoesNotExist' },
  ];
}
