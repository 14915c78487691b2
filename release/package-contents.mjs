/** What the packages of the coordinator and of the agent contain, besides the program itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compressed, fileEntry, folderEntries } from './file-layout.mjs';
import { libraryMinimums, neededSymbolVersions } from './shared-libraries.mjs';

const UNIT_DIR = '/usr/lib/systemd/system';

const COORDINATOR = {
  name: 'everynode',
  summary: 'DaemonSets for machines without Kubernetes: coordinator',
  description: [
    'Serves the Kubernetes API, stores, decides, and serves the console. Contains its',
    'own Node.js. After the installation: everynode coordinator install --advertise HOST',
  ],
  folders: ['/usr/lib/everynode', '/usr/share/doc/everynode'],
  debDepends: ['passwd', 'systemd'],
  debRecommends: [],
  rpmRequires: ['shadow-utils', 'systemd', 'util-linux'],
};

const AGENT = {
  name: 'everynode-agent',
  summary: 'DaemonSets for machines without Kubernetes: agent of a host',
  description: [
    'Runs the Pods of a host with Docker or Podman, also without the coordinator. After',
    'the installation: everynode-agent install --server URL --token-file FILE',
  ],
  folders: ['/usr/share/doc/everynode-agent'],
  debDepends: ['systemd'],
  debRecommends: ['docker.io | docker-ce | podman', 'nftables', 'conntrack'],
  rpmRequires: ['systemd'],
};

/** Returns the coordinator's package: its description, and its layout around the program's. */
export function coordinatorPackage({ root, manPages }, program) {
  const unit = readFileSync(join(root, 'systemd/everynode-coordinator.service'), 'utf8').replace(
    '/usr/local/lib/everynode/everynode',
    '/usr/bin/everynode',
  );
  const layout = new Map([
    ...program,
    [`${UNIT_DIR}/everynode-coordinator.service`, { text: unit, mode: 0o644 }],
    ...documents(root, COORDINATOR.name),
    ...manPages('everynode'),
  ]);
  const executables = [...program.values()].flatMap(({ from }) => (isExecutable(from) ? [from] : []));
  return { about: { ...withLibraries(COORDINATOR, executables), ...scripts(root, 'coordinator') }, layout };
}

/** Returns the agent's package: its description, and its layout around the executable. */
export function agentPackage({ root, manPages }, executable) {
  const units = readdirSync(join(root, 'systemd')).filter((name) => name.startsWith('everynode-agent'));
  const layout = new Map([
    ['/usr/bin/everynode-agent', { from: executable, mode: 0o755 }],
    ...units.map((name) => [`${UNIT_DIR}/${name}`, fileEntry(join(root, 'systemd', name))]),
    ...documents(root, AGENT.name),
    ...manPages('everynode-agent'),
  ]);
  return { about: { ...withLibraries(AGENT, [executable]), ...scripts(root, 'agent') }, layout };
}

/** Native addons, and the coordinator's Node, which the build copies to a file of another name. */
function isExecutable(file) {
  return file !== undefined && /(\.node|node-(amd64|arm64))$/.test(file);
}

/** Adds the C and C++ libraries that the executables need: an older one would be found only when the program starts. */
function withLibraries(about, executables) {
  const { glibc, gcc } = libraryMinimums(executables.flatMap(neededSymbolVersions));
  return {
    ...about,
    debDepends: [`libc6 (>= ${glibc})`, `libstdc++6 (>= ${gcc})`, ...about.debDepends],
    rpmRequires: [`glibc >= ${glibc}`, `libstdc++ >= ${gcc}`, ...about.rpmRequires],
  };
}

function documents(root, name) {
  const folder = `/usr/share/doc/${name}`;
  const copyright = readFileSync(join(root, 'LICENSE'), 'utf8');
  const changes = compressed(readFileSync(join(root, 'CHANGELOG.md')));
  return [
    [`${folder}/copyright`, { text: copyright, mode: 0o644 }],
    [`${folder}/NEWS.gz`, { text: changes, mode: 0o644 }],
    ...(name === COORDINATOR.name ? folderEntries(join(root, 'docs'), `${folder}/docs`) : []),
  ];
}

/**
 * The same steps for both formats. Only Debian's removes data, by its purge. The settings belong to no package: a purge
 * would delete them also when another installation uses them.
 */
function scripts(root, program) {
  const step = (name) => packaging(root, `${name}.sh`);
  const install = step(`${program}-after-install`);
  const remove = step(`${program}-before-remove`);
  const shell = (condition, text) => `#!/bin/sh\nset -e\n${condition} || exit 0\n${text}`;
  return {
    debScripts: {
      postinst: shell('[ "$1" = configure ]', install),
      prerm: shell('[ "$1" = remove ]', remove),
      postrm: `#!/bin/sh\nset -e\nif [ "$1" = purge ]; then\n${step(`${program}-purge`)}fi\n${step('after-remove')}`,
    },
    rpmScripts: {
      post: install,
      preun: `[ "$1" = 0 ] || exit 0\n${remove}`,
      postun: step('after-remove'),
    },
  };
}

function packaging(root, name) {
  return readFileSync(join(root, 'release/packaging', name), 'utf8');
}
