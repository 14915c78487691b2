/** The state of a host, for a comparison with its state before the installation. */
import type { TestHost } from '../harness/hosts/test-hosts.js';

/** The things that an operator without knowledge of Everynode can see on a host. */
export interface HostSnapshot {
  files: string[];
  /** Users, groups, units, sockets, images, networks and volumes. */
  others: string[];
}

/** Paths that change by themselves while a host runs, or by the tools that the test calls. */
const RESTLESS =
  /^\/(var\/(log|cache|tmp)|var\/lib\/(systemd|containerd|containers|docker)|root\/\.(docker|config|local))(\/|$)|^\/etc\/(passwd|group|shadow|gshadow|subuid|subgid)-$|^\/etc\/\.(pwd|updated)/;

/** The host's current state, without paths that change by themselves. */
export function takeHostSnapshot(host: TestHost): HostSnapshot {
  const lines = (text: string) => text.split('\n').filter(Boolean).sort();
  const files = lines(host.run('find', '/', '-xdev')).filter((path) => !RESTLESS.test(path));
  const inMemory = lines(host.run('find', '/run', '/dev/shm', '/tmp', '-xdev', '-name', '*everynode*'));
  const list = (what: string) =>
    host.run('sh', '-c', `systemctl ${what} --all --plain --no-legend '*everynode*' || true`);
  return {
    files: [...files, ...inMemory],
    others: [
      ...lines(host.run('getent', 'passwd')),
      ...lines(host.run('getent', 'group')),
      ...lines(list('list-units')),
      ...lines(list('list-unit-files')),
      ...lines(
        host.run('sh', '-c', 'grep -ho "[^ ]*everynode[^ ]*" /proc/net/unix /proc/self/mounts || true'),
      ),
      ...lines(host.runEngine('ps', '-aq')),
      ...lines(host.runEngine('images', '--format', '{{.Repository}}:{{.Tag}}')),
      ...lines(host.runEngine('network', 'ls', '--format', '{{.Name}}')),
      ...lines(host.runEngine('volume', 'ls', '-q')),
    ],
  };
}
