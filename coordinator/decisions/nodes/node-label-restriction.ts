/**
 * Restricts the labels that a node may set on itself (plugin/pkg/admission/noderestriction and
 * pkg/kubelet/apis/well_known_labels.go). Otherwise a compromised host could attract Pods that are meant for other
 * hosts.
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

/** Returns the keys that a node may not set, sorted. */
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
