/** Commands that start the test engines. All their data and their socket are in one folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Podman lowers its own limits to this value before it starts a container that requests more. */
const MOST_PODMAN_KEEPS = 32_768;

/** Writes the configuration into `folder` and returns the command, like the functions below. */
export function containerdCommand(folder: string): string[] {
  const config = join(folder, 'containerd.toml');
  writeFileSync(config, 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n');
  return [
    ...['containerd', '--config', config, '--address', join(folder, 'containerd.sock')],
    ...['--root', join(folder, 'containerd'), '--state', join(folder, 'containerd-state')],
  ];
}

/** `bridge` is address and prefix of the engine's bridge. */
export function dockerCommand(folder: string, bridge: string, liveRestore: boolean): string[] {
  return [
    ...['dockerd', '--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')],
    ...['--pidfile', join(folder, 'pid'), '-H', `unix://${join(folder, 'engine.sock')}`],
    ...['--containerd', join(folder, 'containerd.sock'), '--bip', bridge, '--userland-proxy=false'],
    ...(liveRestore ? ['--live-restore'] : []),
  ];
}

/** Podman's containers must not request limits above the machine's own. */
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
  // Docker uses the same by default.
  writeFileSync(
    join(folder, 'registries.conf'),
    '[[registry]]\nlocation = "127.0.0.1:5000"\ninsecure = true\n',
  );
  mkdirSync(join(folder, 'networks'), { recursive: true });
  return podmanService(folder);
}

/** Returns `soft:hard` of this process, both with the hard limit, in Podman's format. */
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
