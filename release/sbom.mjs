/** The CycloneDX list of the software in a release (https://cyclonedx.org/docs/1.5/json/). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { consolePackages } from '../bundle.mjs';
import { imageLibraries } from './container-images.mjs';
import { resolvePackage, runtimePackages } from './coordinator-layout.mjs';
import { nodeMaterials } from './node-binary.mjs';

/**
 * Returns the list. `packages` are folders of node_modules as in `lock`, the packages of package-lock.json; `others` are
 * components that npm does not know. npm's own list lacks what the build bundles, because it is a development dependency.
 */
export function softwareList({ lock, packages, others, version, epoch }) {
  const root = { ...lock[''], version };
  const found = [...new Set(packages)].sort();
  const components = new Map(found.map((path) => [refOf(path, lock[path]), npmComponent(path, lock[path])]));
  for (const other of others) components.set(other['bom-ref'], other);
  const dependencies = found.map((path) => {
    const { dependencies = {}, peerDependencies = {} } = lock[path];
    const names = Object.keys({ ...dependencies, ...peerDependencies });
    return { ref: refOf(path, lock[path]), dependsOn: refsOf(lock, names, path, found) };
  });
  const direct = Object.keys({ ...root.dependencies, ...root.devDependencies });
  const rootRef = `everynode@${version}`;
  const dependsOn = [...refsOf(lock, direct, '', found), ...others.map((other) => other['bom-ref'])];
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        'bom-ref': rootRef,
        type: 'application',
        name: 'everynode',
        version,
        licenses: [{ license: { id: root.license } }],
      },
    },
    components: [...components.values()],
    dependencies: [{ ref: rootRef, dependsOn }, ...uniqueByRef(dependencies)],
  };
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function refOf(path, { version }) {
  return `${nameOf(path)}@${version}`;
}

/** Names that lead to a package outside of the list, such as one that only installs, are left out. */
function refsOf(lock, names, from, listed) {
  const paths = names.map((name) => resolvePackage(lock, name, from)).filter((path) => listed.includes(path));
  return [...new Set(paths.map((path) => refOf(path, lock[path])))].sort();
}

/** The same version of a package can be in several folders. */
function uniqueByRef(dependencies) {
  return [...new Map(dependencies.map((each) => [each.ref, each])).values()];
}

function npmComponent(path, { version, license, integrity }) {
  const name = nameOf(path);
  const isId = /^[\w.+-]+$/.test(license ?? '');
  const sha512 = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license && { licenses: [isId ? { license: { id: license } } : { expression: license }] }),
    ...(sha512 && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
  };
}

function nodeComponents() {
  return nodeMaterials().map(({ name, version }) => ({
    'bom-ref': `${name}@${version}`,
    type: 'platform',
    name,
    version,
    purl: `pkg:npm/${name}@${version}`,
  }));
}

/** The C libraries in the images, as packages of the distribution that built them. */
function libraryComponents(architecture) {
  return imageLibraries(architecture).map(({ distribution, name, version }) => ({
    'bom-ref': `${name}@${version}?arch=${architecture}`,
    type: 'library',
    name,
    version,
    purl: `pkg:deb/${distribution}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
  }));
}

/**
 * Writes the list for a release: what runs on the coordinator and on hosts, what the console's files contain, Node, and
 * the C libraries of the images for `imageArchitectures`.
 */
export async function writeSbom({ root, target, version, epoch, imageArchitectures }) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const packages = [...runtimePackages(lock), ...(await consolePackages(root))];
  const others = [...nodeComponents(), ...imageArchitectures.flatMap(libraryComponents)];
  const list = softwareList({ lock, packages, others, version, epoch });
  writeFileSync(target, `${JSON.stringify(list, null, 2)}\n`);
}
