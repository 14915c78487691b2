/** Writes a layout of files as `.deb` and as `.rpm`, with Debian's dpkg-deb and rpmbuild. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeLayout } from './file-layout.mjs';

const MAINTAINER = 'The Everynode authors <everynode@everynode.dev>';
const RPM_ARCHITECTURE = { amd64: 'x86_64', arm64: 'aarch64' };

/** A pre-release sorts before its release in both formats only with a tilde. */
function packageVersion(version) {
  return version.replace('-', '~');
}

/** Writes `target`. Throws if dpkg-deb is missing or refuses the package. */
export function writeDeb({ about, layout, version, architecture, work, target, epoch, fast }) {
  const root = join(work, `deb-${about.name}-${architecture}`);
  writeLayout(layout, root, epoch);
  const control = join(root, 'DEBIAN');
  mkdirSync(control);
  const file = (name, text, mode = 0o644) => text && writeFileSync(join(control, name), text, { mode });
  file('control', controlText({ about, version, architecture }));
  for (const [name, text] of Object.entries(about.debScripts)) file(name, text, 0o755);
  const compression = fast ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6'];
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', ...compression, root, target], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  });
  rmSync(root, { recursive: true });
}

function controlText({ about, version, architecture }) {
  const { name, summary, description, debDepends, debRecommends } = about;
  const lines = [
    `Package: ${name}`,
    `Version: ${packageVersion(version)}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    'Section: admin',
    'Priority: optional',
    `Depends: ${debDepends.join(', ')}`,
    ...(debRecommends.length > 0 ? [`Recommends: ${debRecommends.join(', ')}`] : []),
    `Description: ${summary}`,
    ...description.map((line) => ` ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Writes `target`. Throws if rpmbuild is missing or refuses the package. */
export function writeRpm({ about, layout, version, architecture, work, target, epoch, fast }) {
  const top = join(work, `rpm-${about.name}-${architecture}`);
  const files = join(top, 'files');
  writeLayout(layout, files, epoch);
  const spec = join(top, `${about.name}.spec`);
  writeFileSync(spec, specText({ about, layout, version, files, fast }));
  const macros = {
    _topdir: top,
    _rpmdir: join(top, 'out'),
    _build_name_fmt: 'package.rpm',
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    // The files are final: no stripping, compressing or renaming by the distribution's scripts.
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
  };
  const defines = Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  execFileSync(
    'rpmbuild',
    ['-bb', '--quiet', '--target', `${RPM_ARCHITECTURE[architecture]}-linux`, ...defines, spec],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    },
  );
  renameSync(join(top, 'out/package.rpm'), target);
  rmSync(top, { recursive: true });
}

function specText({ about, layout, version, files, fast }) {
  const { name, summary, description, rpmRequires, rpmScripts } = about;
  const listed = [...layout].map(([path, { mode, folder }]) => {
    const kind = folder ? '%dir ' : '';
    return `${kind}%attr(${mode ? mode.toString(8).padStart(4, '0') : '-'}, root, root) "${path}"`;
  });
  const own = ownFolders(layout, about.folders).map((path) => `%dir %attr(0755, root, root) "${path}"`);
  const scripts = Object.entries(rpmScripts).map(([section, text]) => `%${section}\n${text}`);
  return `Name: ${name}
Version: ${packageVersion(version)}
Release: 1
Summary: ${summary}
License: Apache-2.0
URL: https://everynode.dev
AutoReqProv: no
${rpmRequires.map((each) => `Requires: ${each}`).join('\n')}
%global _binary_payload ${fast ? 'w1.gzdio' : 'w6.xzdio'}

%description
${description.join('\n')}

%install
cp -a ${files}/. %{buildroot}/

${scripts.join('\n')}
%files
${[...own, ...listed].join('\n')}
`;
}

/** Folders below `roots` with files of the layout. rpm removes only folders that the package lists. */
function ownFolders(layout, roots) {
  const found = new Set();
  for (const path of layout.keys()) {
    const root = roots.find((each) => path.startsWith(`${each}/`));
    for (let parent = dirname(path); root && parent.startsWith(root); parent = dirname(parent))
      found.add(parent);
  }
  return [...found].sort();
}
