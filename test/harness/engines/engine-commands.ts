/** How the engines of the tests are started: all that they keep lies in one folder, where their socket is, too. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Podman lowers its own limits to this before it starts a container that asks for more. */
const MOST_PODMAN_KEEPS = 32_768;

/** Writes its configuration into `folder`, as all of these. */
export function containerdCommand(folder: string): string[] {
  const config = join(folder, 'containerd.toml');
  writeFileSync(config, 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n');
  return [
    ...['containerd', '--config', config, '--address', join(folder, 'containerd.sock')],
    ...['--root', join(folder, 'containerd'), '--state', join(folder, 'containerd-state')],
  ];
}

/** `bridge`: address and prefix of its own bridge. */
export function dockerCommand(folder: string, bridge: string, liveRestore: boolean): string[] {
  return [
    ...['dockerd', '--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')],
    ...['--pidfile', join(folder, 'pid'), '-H', `unix://${join(folder, 'engine.sock')}`],
    ...['--containerd', join(folder, 'containerd.sock'), '--bip', bridge, '--userland-proxy=false'],
    ...(liveRestore ? ['--live-restore'] : []),
  ];
}

/** Podman's containers are to ask for no limit above the machine's own. */
export function podmanCommand(folder: string): string[] {
  writeFileSync(
    join(folder, 'containers.conf'),
    `[containers]
default_ulimits = ["nofile=${hardLimit('Max open files')}", "nproc=${hardLimit('Max processes')}"]
log_driver = "k8s-file"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
`,
  );
  // As Docker does by itself.
  writeFileSync(
    join(folder, 'registries.conf'),
    '[[registry]]\nlocation = "127.0.0.1:5000"\ninsecure = true\n',
  );
  mkdirSync(join(folder, 'networks'), { recursive: true });
  return podmanService(folder);
}

/** `soft:hard` of this process, both the hard one, as Podman wants them. */
function hardLimit(name: string): string {
  const line =
    readFileSync('/proc/self/limits', 'utf8')
      .split('\n')
      .find((text) => text.startsWith(name)) ?? '';
  const hard = line.slice(name.length).trim().split(/\s+/)[1] ?? 'unlimited';
  const value = Math.min(hard === 'unlimited' ? MOST_PODMAN_KEEPS : Number(hard), MOST_PODMAN_KEEPS);
  return `${value}:${value}`;
}

function podmanService(folder: string): string[] {
  return [
    ...['podman', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')],
    ...['--tmpdir', join(folder, 'tmp'), '--cgroup-manager', 'cgroupfs'],
    ...['system', 'service', '--time=0', `unix://${join(folder, 'engine.sock')}`],
  ];
}
