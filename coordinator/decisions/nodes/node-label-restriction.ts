/**
 * Which labels a node may give itself (plugin/pkg/admission/noderestriction and pkg/kubelet/apis/well_known_labels.go):
 * a host that was taken over must not be able to draw to itself what is meant for others.
 */

const ALLOWED_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const ALLOWED = new Set([
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'node.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
]);

/** The keys among these that a node may not set, sorted. */
export function labelsNodesMayNotSet(labels: Readonly<Record<string, string>>): string[] {
  return Object.keys(labels)
    .filter((key) => !mayNodeSet(key))
    .sort();
}

function mayNodeSet(key: string): boolean {
  const namespace = key.includes('/') ? (key.split('/', 1)[0] ?? '') : '';
  const isOf = (domain: string) => namespace === domain || namespace.endsWith(`.${domain}`);
  if (isOf('node-restriction.kubernetes.io')) return false;
  if (!isOf('kubernetes.io') && !isOf('k8s.io')) return true;
  return ALLOWED.has(key) || ALLOWED_PREFIXES.some(isOf);
}
