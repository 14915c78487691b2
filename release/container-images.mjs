/** The images of the coordinator and of the agent: the program and the C libraries of this machine, without a shell. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileEntry } from './file-layout.mjs';
import { OWN_ARCHITECTURE } from './node-binary.mjs';
import { writeImage } from './oci-image.mjs';

/** The numeric user of the coordinator's container. Kubernetes checks `runAsNonRoot` only for numbers. */
const USER = 65_532;
const HOME = '/home/everynode';
const LIBRARIES = [
  'libc.so.6',
  'libdl.so.2',
  'libm.so.6',
  'libpthread.so.0',
  'libgcc_s.so.1',
  'libstdc++.so.6',
];
/** The packages that `LIBRARIES` belong to. */
const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6'];
/** The loader's path is fixed by the executables, and the folder by Debian's loader. */
const PLATFORM = {
  amd64: { loader: '/lib64/ld-linux-x86-64.so.2', folder: '/usr/lib/x86_64-linux-gnu' },
  arm64: { loader: '/lib/ld-linux-aarch64.so.1', folder: '/usr/lib/aarch64-linux-gnu' },
};
/** Debian's packages libc6-arm64-cross and libstdc++6-arm64-cross, which come with the cross compiler. */
const CROSS_FOLDER = { arm64: '/usr/aarch64-linux-gnu/lib' };

/** Returns why this machine has no C libraries for an image, or undefined. */
export function whyNoImage(architecture) {
  const missing = Object.values(libraryFiles(architecture)).find((path) => !existsSync(path));
  if (missing !== undefined) return `${missing} is missing (Debian: g++-aarch64-linux-gnu)`;
  try {
    imageLibraries(architecture);
    return undefined;
  } catch {
    return 'dpkg-query does not know the packages of the C libraries, which the SBOM must list';
  }
}

/** Returns the packages of the C libraries in an image. Throws if dpkg-query does not know them. */
export function imageLibraries(architecture) {
  const isOwn = architecture === OWN_ARCHITECTURE;
  const names = PACKAGES.map((name) => (isOwn ? `${name}:${architecture}` : `${name}-${architecture}-cross`));
  const options = ['--show', '--showformat', `\${Package} \${Version}\n`, ...names];
  const output = execFileSync('dpkg-query', options, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, distribution = 'debian'] = /^ID=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const lines = output.trim().split('\n');
  return lines.map((line) => {
    const [name, version] = line.split(' ');
    return { distribution, name, version };
  });
}

/** Paths in the image, and the files of this machine for them. */
function libraryFiles(architecture) {
  const { loader, folder } = PLATFORM[architecture];
  const source = architecture === OWN_ARCHITECTURE ? folder : CROSS_FOLDER[architecture];
  const name = loader.slice(loader.lastIndexOf('/') + 1);
  return Object.fromEntries([
    [loader, architecture === OWN_ARCHITECTURE ? loader : join(source, name)],
    ...LIBRARIES.map((each) => [`${folder}/${each}`, join(source, each)]),
  ]);
}

function baseLayer(architecture) {
  const files = Object.entries(libraryFiles(architecture));
  const text = (lines) => ({ text: `${lines.join('\n')}\n`, mode: 0o644 });
  return new Map([
    ...files.map(([path, from]) => [path, { ...fileEntry(realpathSync(from)), mode: 0o755 }]),
    [
      '/etc/passwd',
      text(['root:x:0:0:root:/root:/sbin/nologin', `everynode:x:${USER}:${USER}::${HOME}:/sbin/nologin`]),
    ],
    ['/etc/group', text(['root:x:0:', `everynode:x:${USER}:`])],
    ['/etc/nsswitch.conf', text(['hosts: files dns'])],
    ['/tmp', { folder: true, mode: 0o1777 }],
  ]);
}

/** Writes the coordinator's image. It runs as an ordinary user. */
export function writeCoordinatorImage({ layout, version, architecture, ...options }) {
  // A new volume gets the owner of the folder in the image.
  const data = new Map([['/var/lib/everynode', { folder: true, mode: 0o700, uid: USER }]]);
  // Commands of an ordinary user, such as `everynode token create`, look there for the data.
  data.set(`${HOME}/.local/share/everynode`, { link: '/var/lib/everynode', mode: 0o777 });
  const isNode = ([path]) => path.endsWith('/bin/node');
  return writeImage({
    ...options,
    architecture,
    name: `everynode.dev/coordinator:${version}`,
    // Node and the libraries stay the same in most releases, so that hosts and registries keep their layer.
    layers: [
      new Map([...baseLayer(architecture), ...data, ...[...layout].filter(isNode)]),
      new Map([...layout].filter((entry) => !isNode(entry))),
    ],
    config: {
      User: `${USER}:${USER}`,
      Env: ['PATH=/usr/bin', `HOME=${HOME}`, 'EVERYNODE_DATA=/var/lib/everynode'],
      Entrypoint: ['/usr/bin/everynode'],
      Cmd: ['coordinator'],
      WorkingDir: '/',
      ExposedPorts: { '6443/tcp': {} },
      Volumes: { '/var/lib/everynode': {} },
      Labels: labels(version),
    },
  });
}

/** Writes the agent's image. It runs as root, because it drives the host's engine. */
export function writeAgentImage({ executable, version, architecture, ...options }) {
  return writeImage({
    ...options,
    architecture,
    // Not everynode.dev/agent, which a DaemonSet uses for the version of installed agents.
    name: `everynode.dev/agent-container:${version}`,
    layers: [
      baseLayer(architecture),
      new Map([['/usr/bin/everynode-agent', { from: executable, mode: 0o755 }]]),
    ],
    config: {
      Env: ['PATH=/usr/bin', 'HOME=/root'],
      Entrypoint: ['/usr/bin/everynode-agent'],
      WorkingDir: '/',
      Volumes: { '/var/lib/everynode-agent': {} },
      Labels: labels(version),
    },
  });
}

function labels(version) {
  return { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'Apache-2.0' };
}
