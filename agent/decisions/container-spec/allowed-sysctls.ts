/** The sysctls that a Pod may set, and their namespaces (pkg/kubelet/sysctl, component-helpers node/util/sysctl). */

/** Namespaced sysctls without effect on other Pods of the host. */
const SAFE: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
];

/** Spelled as in the kubelet's messages. */
type SysctlNamespace = 'IPC' | 'Net';

/** Returns the namespace of a sysctl or pattern; undefined if it affects the whole host. */
function namespaceOf(name: string): SysctlNamespace | undefined {
  if (name.startsWith('net.')) return 'Net';
  return /^(kernel\.(sem$|shm|msg)|fs\.mqueue\.)/.test(name) ? 'IPC' : undefined;
}

/** Returns `net/ipv4/tcp_rmem` with dots. In a dotted name, a slash is part of a component. */
export function dottedSysctl(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== '/') return name;
  return [...name].map((sign) => (sign === '/' ? '.' : sign === '.' ? '/' : sign)).join('');
}

/** Parses patterns such as `kernel.msg*,net.core.somaxconn`. Throws an Error that names a pattern without namespace. */
export function parseSysctlPatterns(text: string): string[] {
  const patterns = text
    .split(',')
    .map((pattern) => dottedSysctl(pattern.trim()))
    .filter((pattern) => pattern !== '');
  const hosts = patterns.find((pattern) => namespaceOf(pattern) === undefined);
  if (hosts === undefined) return patterns;
  throw new Error(
    `must name namespaced sysctls (net.…, kernel.shm…, kernel.msg…, kernel.sem, fs.mqueue.…), not ${hosts}`,
  );
}

/** Returns why a Pod may not set this sysctl here; undefined if it may. */
export function forbiddenSysctl(
  given: string,
  allowedUnsafe: readonly string[],
  spec: { hostNetwork?: boolean; hostIPC?: boolean },
): string | undefined {
  const name = dottedSysctl(given);
  const isAllowed = [...SAFE, ...allowedUnsafe].some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
  if (!isAllowed) return `"${name}" not allowlisted`;
  const namespace = namespaceOf(name);
  const isHosts = namespace === 'Net' ? spec.hostNetwork : spec.hostIPC;
  return isHosts ? `"${name}" not allowed with host ${namespace} enabled` : undefined;
}
