/** The coordinator's program with its own Node, as it lies in packages and images. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileEntry, folderEntries } from './file-layout.mjs';
import { NEWEST_COORDINATOR_NODE, nodeFolder } from './node-binary.mjs';
import { stripSymbols } from './single-executable.mjs';
import { sqliteAddon } from './sqlite-addon.mjs';

export const PROGRAM_DIR = '/usr/lib/everynode';
/** Only compiles or downloads SQLite's addon. */
const SKIPPED_PACKAGES = ['prebuild-install'];
const SKIPPED_FILES = /\.(d\.[cm]?ts|map|md|markdown|flow)$/;
/** Node starts a file without a suffix as CommonJS. */
const LAUNCHER = `#!${PROGRAM_DIR}/bin/node
import('${PROGRAM_DIR}/dist/coordinator/cli/everynode.js');
`;

/** Folders of node_modules that the program needs at run time, relative to the root. Optional packages are not among them. */
export function runtimePackages(lock) {
  const found = new Set();
  const add = (name, from) => {
    const path = resolvePackage(lock, name, from);
    if (path === undefined || found.has(path) || SKIPPED_PACKAGES.includes(name)) return;
    found.add(path);
    for (const each of Object.keys(lock[path].dependencies ?? {})) add(each, path);
  };
  for (const name of Object.keys(lock[''].dependencies)) add(name, '');
  return [...found].sort();
}

/** Returns the folder of a package as Node finds it: in the caller's own node_modules, then in those of its parents. */
export function resolvePackage(lock, name, from) {
  for (let folder = from; ; folder = folder.replace(/(^|\/)node_modules\/[^/]+(\/[^/]+)?$/, '')) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (lock[path]) return path;
    if (folder === '') return undefined;
  }
}

/**
 * Returns the entries of Node, the addon and the program. `tarball` is the npm package, `work` a folder for temporary
 * files.
 */
export function coordinatorLayout({ root, tarball, work, architecture, version, say }) {
  const unpacked = join(work, 'npm-package');
  if (!existsSync(unpacked)) {
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', tarball, '-C', unpacked]);
  }
  const node = join(work, `coordinator-node-${architecture}`);
  copyFileSync(join(nodeFolder(architecture, NEWEST_COORDINATOR_NODE), 'bin/node'), node);
  stripSymbols(architecture, node, say);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const modules = runtimePackages(lock).flatMap((path) =>
    folderEntries(join(root, path), `${PROGRAM_DIR}/${path}`, (file) => isLeftOut(path, file)),
  );
  const description = JSON.parse(readFileSync(join(unpacked, 'package/package.json'), 'utf8'));
  return new Map([
    [`${PROGRAM_DIR}/bin/node`, { from: node, mode: 0o755 }],
    ...folderEntries(join(unpacked, 'package'), PROGRAM_DIR),
    ...modules,
    [
      `${PROGRAM_DIR}/node_modules/better-sqlite3/build/Release/better_sqlite3.node`,
      fileEntry(sqliteAddon(root, architecture)),
    ],
    [
      `${PROGRAM_DIR}/package.json`,
      { text: `${JSON.stringify({ ...description, version }, null, 2)}\n`, mode: 0o644 },
    ],
    ['/usr/bin/everynode', { text: LAUNCHER, mode: 0o755 }],
  ]);
}

/** Nested packages have entries of their own, and of better-sqlite3 only the addon for the target is needed. */
function isLeftOut(path, file) {
  if (SKIPPED_FILES.test(file) || file.endsWith('/node_modules')) return true;
  return path === 'node_modules/better-sqlite3' && /\/(build|deps|src)$/.test(file);
}
