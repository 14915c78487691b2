/**
 * Builds a release in dist/release/ (see `USAGE` below). It contains the agent as an executable for each architecture,
 * in two compressions, and the coordinator as an npm package. A CycloneDX list names all dependencies, and signed
 * checksums cover all files. `--key` is the Ed25519 key of the releases, created if it does not exist: hosts pin it at
 * their installation. For tests, `--fast` compresses quickly and `--version` gives the agents another version.
 */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleAgent } from '../bundle.mjs';
import { ARCHITECTURES } from './node-binary.mjs';
import { makeExecutable } from './single-executable.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

const USAGE = 'npm run release -- [--key FILE] [--arch ARCH,…] [--fast] [--version VERSION] [--out DIR]';
const TEXT = { encoding: 'utf8', maxBuffer: 64 * 2 ** 20, stdio: ['ignore', 'pipe', 'ignore'] };

function say(text) {
  process.stderr.write(`· ${text}\n`);
}

function releaseKey(path) {
  if (!existsSync(path)) {
    say(`creating the release key ${path}: keep it, because hosts accept only upgrades that it signs`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  return createPrivateKey(readFileSync(path));
}

function compress(file, fast) {
  say(`compressing ${file}`);
  const level = fast ? '-1' : '-9';
  const out = (suffix) => ['ignore', openSync(`${file}.${suffix}`, 'w'), 'inherit'];
  execFileSync('gzip', ['-n', level, '-c', file], { stdio: out('gz') });
  if (!fast) execFileSync('xz', ['-6', '-T0', '-c', file], { stdio: out('xz') });
}

function checksums(folder) {
  const lines = readdirSync(folder)
    .filter((name) => name.startsWith('everynode-'))
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  return lines.join('');
}

async function release({ key, arch, fast, version, out }) {
  const privateKey = releaseKey(key);
  rmSync(out, { recursive: true, force: true });
  const folder = join(out, 'work');
  mkdirSync(folder, { recursive: true });
  const bundle = join(folder, 'bundle.cjs');
  await bundleAgent(ROOT, version, bundle);
  for (const architecture of arch.split(',')) {
    say(`building the agent for ${architecture}`);
    const target = join(out, `everynode-agent-${version}-linux-${architecture}`);
    await makeExecutable({ architecture, bundle, folder, target, say });
    compress(target, fast);
  }
  rmSync(folder, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: ROOT, stdio: 'ignore' });
  const list = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: ROOT,
    ...TEXT,
  });
  writeFileSync(join(out, `everynode-${version}.cdx.json`), list);
  const sums = checksums(out);
  writeFileSync(join(out, 'SHA256SUMS'), sums);
  writeFileSync(
    join(out, 'SHA256SUMS.sig'),
    `${sign(null, Buffer.from(sums), privateKey).toString('base64')}\n`,
  );
  writeFileSync(
    join(out, 'release.pub'),
    createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }),
  );
  for (const name of readdirSync(out))
    say(`${(statSync(join(out, name)).size / 1e6).toFixed(1)} MB  ${name}`);
}

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const OPTIONS = {
  key: { type: 'string', default: join(homedir(), '.config/everynode/release-key.pem') },
  arch: { type: 'string', default: ARCHITECTURES.join(',') },
  fast: { type: 'boolean', default: false },
  version: { type: 'string', default: VERSION },
  out: { type: 'string', default: join(ROOT, 'dist/release') },
  help: { type: 'boolean', default: false },
};

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    process.stderr.write(`${error.message}: ${USAGE}\n`);
    process.exit(2);
  }
}

const { help, ...wanted } = readOptions();
// The version is part of file names. A coordinator rejects other forms (shared/process/release-version.ts).
if (!/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(wanted.version)) {
  process.stderr.write(`--version ${wanted.version} is not of the form 1.2.3 or 1.2.3-rc.1: ${USAGE}\n`);
  process.exit(2);
}
if (help) process.stdout.write(`${USAGE}\n`);
else await release(wanted);
