/**
 * Builds a release in dist/release/ (see `USAGE` below): the npm package, the agent as an executable for each
 * architecture, packages and container images of both programs, files to run the coordinator in containers, an
 * air-gapped bundle, a CycloneDX list, SLSA provenance, and signed checksums of all files. `--key` is the Ed25519 key of
 * the releases, created if it does not exist: hosts pin it at their installation. For tests, `--fast` compresses quickly
 * and `--version` replaces the version of package.json.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleAgent } from '../bundle.mjs';
import { whyNoImage, writeAgentImage, writeCoordinatorImage } from './container-images.mjs';
import { coordinatorLayout } from './coordinator-layout.mjs';
import { kubernetesManifest, writeHelmChart } from './helm-chart.mjs';
import { writeDeb, writeRpm } from './linux-packages.mjs';
import { manualPages } from './manual.mjs';
import { ARCHITECTURES } from './node-binary.mjs';
import { writeOfflineBundle } from './offline-bundle.mjs';
import { agentPackage, coordinatorPackage } from './package-contents.mjs';
import { programsOf, RELEASE_KINDS, wantedKinds } from './release-kinds.mjs';
import { writeSbom } from './sbom.mjs';
import { releaseKey, signRelease, sourceEpoch, writeProvenance } from './signed-release.mjs';
import { makeExecutable } from './single-executable.mjs';
import { whyNoAddon } from './sqlite-addon.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

const USAGE = `npm run release -- [--key FILE] [--arch ARCH,…] [--only KIND,…] [--complete] [--fast] [--version VERSION] [--out DIR]
  --only      some of ${RELEASE_KINDS.join(', ')}; offline includes agents and packages
  --complete  fail if a part cannot be built on this machine, instead of leaving it out`;

function say(text) {
  process.stderr.write(`· ${text}\n`);
}

function compress(file, fast) {
  say(`compressing ${file}`);
  const level = fast ? '-1' : '-9';
  const out = (suffix) => ['ignore', openSync(`${file}.${suffix}`, 'w'), 'inherit'];
  execFileSync('gzip', ['-n', level, '-c', file], { stdio: out('gz') });
  // The number of threads is part of the result: all but one give the same bytes.
  if (!fast) execFileSync('xz', ['-6', '-T2', '-c', file], { stdio: out('xz') });
}

/** Returns why a part cannot be built on this machine, or undefined. */
function whyNot(kind, architecture) {
  if (kind === 'deb' || kind === 'rpm') {
    const tool = kind === 'deb' ? 'dpkg-deb' : 'rpmbuild';
    try {
      execFileSync(tool, ['--version'], { stdio: 'ignore' });
    } catch {
      return `${tool} is not installed (Debian: ${kind === 'deb' ? 'dpkg' : 'rpm'})`;
    }
  }
  return kind === 'coordinator'
    ? whyNoAddon(architecture)
    : kind === 'image'
      ? whyNoImage(architecture)
      : undefined;
}

class Release {
  #leftOut = [];

  constructor(options) {
    Object.assign(this, options);
    this.epoch = sourceEpoch(ROOT);
    this.work = join(this.out, 'work');
    this.programs = programsOf(this.kinds);
  }

  async build() {
    const { out, work } = this;
    const privateKey = releaseKey(this.key, say);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(work, { recursive: true });
    const tarball = this.#npmPackage();
    const bundle = join(work, 'bundle.cjs');
    await bundleAgent(ROOT, this.version, bundle);
    this.manPages = await manualPages(ROOT, this);
    for (const architecture of this.arch.split(',')) {
      if (this.programs.agent) await this.#buildAgent(architecture, bundle);
      if (this.programs.coordinator) await this.#buildCoordinator(architecture, tarball);
    }
    await this.#writeManifests();
    if (this.kinds.has('offline')) {
      say('writing the air-gapped bundle');
      const target = join(out, `everynode-${this.version}-offline.tar`);
      await writeOfflineBundle({ ...this, root: ROOT, target, privateKey });
    }
    if (this.kinds.has('npm')) renameSync(tarball, join(out, `everynode-${this.version}.tgz`));
    rmSync(work, { recursive: true });
    await this.#writeSbom();
    const parameters = { architectures: this.arch.split(','), kinds: [...this.kinds], fast: this.fast };
    const target = join(out, `everynode-${this.version}.intoto.json`);
    writeProvenance({ root: ROOT, folder: out, target, version: this.version, parameters });
    signRelease(out, privateKey);
    for (const name of readdirSync(out))
      say(`${(statSync(join(out, name)).size / 1e6).toFixed(1)} MB  ${name}`);
    for (const text of this.#leftOut) say(`left out: ${text}`);
    return this.#leftOut.length === 0;
  }

  #writeSbom() {
    const target = join(this.out, `everynode-${this.version}.cdx.json`);
    const imageArchitectures = this.kinds.has('images')
      ? this.arch.split(',').filter((each) => whyNoImage(each) === undefined)
      : [];
    return writeSbom({ ...this, root: ROOT, target, imageArchitectures });
  }

  /** Returns the path of the npm package, among the temporary files. */
  #npmPackage() {
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', this.work];
    const name = execFileSync('npm', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return join(this.work, name.trim());
  }

  async #buildAgent(architecture, bundle) {
    say(`building the agent for ${architecture}`);
    const isPublished = this.kinds.has('agents');
    const folder = isPublished ? this.out : this.work;
    const target = join(folder, `everynode-agent-${this.version}-linux-${architecture}`);
    await makeExecutable({ architecture, bundle, folder: this.work, target, say });
    if (isPublished) compress(target, this.fast);
    if (this.kinds.has('packages')) {
      const { about, layout } = agentPackage({ root: ROOT, ...this }, target);
      this.#writePackages('everynode-agent', architecture, { about, layout });
    }
    if (this.kinds.has('images')) {
      await this.#writeImage('everynode-agent', architecture, (options) =>
        writeAgentImage({ ...options, executable: target }),
      );
    }
  }

  async #buildCoordinator(architecture, tarball) {
    if (this.#isLeftOut('coordinator', architecture, 'coordinator')) return;
    say(`building the coordinator for ${architecture}`);
    const program = coordinatorLayout({ ...this, root: ROOT, tarball, architecture, say });
    if (this.kinds.has('packages')) {
      this.#writePackages(
        'everynode-coordinator',
        architecture,
        coordinatorPackage({ root: ROOT, ...this }, program),
      );
    }
    if (this.kinds.has('images')) {
      await this.#writeImage('everynode-coordinator', architecture, (options) =>
        writeCoordinatorImage({ ...options, layout: program }),
      );
    }
  }

  #writePackages(name, architecture, contents) {
    for (const [format, write] of Object.entries({ deb: writeDeb, rpm: writeRpm })) {
      if (this.#isLeftOut(format, architecture, `${name} as .${format}`)) continue;
      say(`writing ${name} for ${architecture} as .${format}`);
      const target = join(this.out, `${name}-${this.version}-linux-${architecture}.${format}`);
      write({ ...this, ...contents, architecture, target });
    }
  }

  async #writeImage(name, architecture, write) {
    if (this.#isLeftOut('image', architecture, `image of ${name}`)) return;
    say(`writing the image of ${name} for ${architecture}`);
    const target = join(this.out, `${name}-${this.version}-linux-${architecture}.oci.tar`);
    await write({ ...this, architecture, target });
  }

  #isLeftOut(kind, architecture, what) {
    const why = whyNot(kind, architecture);
    if (why !== undefined) this.#leftOut.push(`${what} for ${architecture}: ${why}`);
    return why !== undefined;
  }

  async #writeManifests() {
    if (!this.kinds.has('images')) return;
    const { version, epoch } = this;
    const file = (name) => join(this.out, `everynode-${version}-${name}`);
    const compose = readFileSync(join(ROOT, 'release/packaging/compose.yaml'), 'utf8');
    writeFileSync(file('compose.yaml'), compose.replaceAll('@VERSION@', version));
    writeFileSync(file('kubernetes.yaml'), kubernetesManifest(ROOT, version));
    await writeHelmChart({ root: ROOT, version, epoch, target: file('helm-chart.tgz') });
  }
}

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const OPTIONS = {
  key: { type: 'string', default: join(homedir(), '.config/everynode/release-key.pem') },
  arch: { type: 'string', default: ARCHITECTURES.join(',') },
  only: { type: 'string', default: RELEASE_KINDS.join(',') },
  complete: { type: 'boolean', default: false },
  fast: { type: 'boolean', default: false },
  version: { type: 'string', default: VERSION },
  out: { type: 'string', default: join(ROOT, 'dist/release') },
  help: { type: 'boolean', default: false },
};

function refuse(text) {
  process.stderr.write(`${text}. All options: npm run release -- --help\n`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    return refuse(error.message);
  }
}

function readKinds(only) {
  try {
    return wantedKinds(only);
  } catch (error) {
    return refuse(error.message);
  }
}

const { help, ...wanted } = readOptions();
// The version is part of file names. A coordinator rejects other forms (shared/process/release-version.ts).
if (!/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(wanted.version))
  refuse(`--version ${wanted.version} is not of the form 1.2.3 or 1.2.3-rc.1`);
for (const architecture of wanted.arch.split(','))
  if (!ARCHITECTURES.includes(architecture))
    refuse(`--arch ${architecture} is not one of ${ARCHITECTURES.join(', ')}`);
const kinds = readKinds(wanted.only);
if (help) process.stdout.write(`${USAGE}\n`);
else if (!(await new Release({ ...wanted, kinds, out: resolve(wanted.out) }).build()) && wanted.complete)
  process.exit(1);
