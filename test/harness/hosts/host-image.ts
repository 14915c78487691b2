/** The images of test hosts: a Debian with systemd and an engine, built once and cached by a hash of the recipe. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLEAN_CGROUPS, type EngineKind } from '../engines/test-engines.js';

interface Recipe {
  suite: string;
  base: string[];
  packages: string[];
  /** Files in the image: path → text. */
  files: Record<string, string>;
  /** Units that start at boot. */
  units: string[];
}

const BASE = [
  ...['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'ca-certificates', 'procps', 'curl', 'iptables'],
  ...['nftables', 'conntrack'],
];

/** No unit may request more than the test machine has. */
const PODMAN_FILES = {
  'etc/containers/containers.conf': `[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
`,
  'etc/systemd/system/podman.service.d/test.conf': `[Service]
ExecStart=
ExecStart=/usr/bin/unshare -m sh /etc/podman-service
`,
  'etc/podman-service': `${CLEAN_CGROUPS}exec podman system service --time=0\n`,
};

const RECIPES: Record<EngineKind, Recipe> = {
  docker: { suite: 'bookworm', base: BASE, packages: ['docker.io'], files: {}, units: ['docker.service'] },
  podman: {
    suite: 'bookworm',
    base: BASE,
    packages: ['podman', 'crun', 'conmon', 'netavark', 'aardvark-dns'],
    files: PODMAN_FILES,
    units: ['podman.socket'],
  },
};

/** Returns the reason why hosts cannot be built here, or undefined. */
export function whyNoHosts(): string | undefined {
  const missing = ['/usr/sbin/debootstrap', '/usr/sbin/dockerd'].filter((path) => !existsSync(path));
  return missing.length > 0 ? `needs ${missing.join(', ')} (see .ci/packages)` : undefined;
}

/** Returns the path of the image's archive. Builds it (about 90 s, 450 MB) if the cache has none of this recipe. */
export function hostImage(kind: EngineKind): string {
  const archive = archiveOf(kind);
  if (existsSync(archive)) return archive;
  mkdirSync(dirname(archive), { recursive: true });
  // Concurrent tests: one builds the image, and the others wait for it.
  const builder = fileURLToPath(new URL('build-host-image.js', import.meta.url));
  execFileSync('flock', [`${archive}.lock`, process.execPath, builder, kind], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return archive;
}

function archiveOf(kind: EngineKind): string {
  const hash = createHash('sha256').update(JSON.stringify(RECIPES[kind])).digest('hex').slice(0, 12);
  return join(homedir(), '.cache', 'everynode-tests', `host-${kind}-${hash}.tar`);
}

/** Builds the image unless another process has built it. */
export function buildHostImage(kind: EngineKind): void {
  const archive = archiveOf(kind);
  if (!existsSync(archive)) build(RECIPES[kind], archive);
}

function build(recipe: Recipe, archive: string): void {
  const root = mkdtempSync(join(tmpdir(), 'everynode-host-image-'));
  try {
    run('debootstrap', '--variant=minbase', `--include=${recipe.base.join(',')}`, recipe.suite, root);
    // debootstrap cannot resolve Podman's virtual dependencies.
    run('chroot', root, 'apt-get', 'install', '-y', '--no-install-recommends', ...recipe.packages);
    run('chroot', root, 'apt-get', 'clean');
    // Left by debootstrap where it ran in a container: services would not start.
    rmSync(join(root, 'usr/sbin/policy-rc.d'), { force: true });
    for (const [path, text] of Object.entries(recipe.files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    run('chroot', root, 'systemctl', 'enable', ...recipe.units);
    run('tar', '-C', root, '-cf', `${archive}.new`, '.');
    renameSync(`${archive}.new`, archive);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 64 * 2 ** 20,
  });
}
