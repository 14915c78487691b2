/** What proves a release: how it was built (provenance), and signed checksums. */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { nodeMaterials } from './node-binary.mjs';

const TEXT = { encoding: 'utf8', maxBuffer: 64 * 2 ** 20, stdio: ['ignore', 'pipe', 'ignore'] };

/** Returns the Ed25519 key that signs releases. Creates it if it does not exist. */
export function releaseKey(path, say) {
  if (!existsSync(path)) {
    say(`creating the release key ${path}: keep it, because hosts accept only upgrades that it signs`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  return createPrivateKey(readFileSync(path));
}

function git(root, ...args) {
  try {
    return execFileSync('git', ['-C', root, ...args], TEXT).trim();
  } catch {
    // A source archive has no history.
    return undefined;
  }
}

/** The time of all files, in seconds: of `SOURCE_DATE_EPOCH`, else of the commit (https://reproducible-builds.org). */
export function sourceEpoch(root) {
  const given = process.env.SOURCE_DATE_EPOCH ?? git(root, 'log', '-1', '--format=%ct') ?? '';
  return /^\d+$/.test(given) ? Number(given) : 0;
}

/** Writes an in-toto statement with SLSA provenance (https://slsa.dev/spec/v1.0/provenance) about all files so far. */
export function writeProvenance({ root, folder, target, version, parameters }) {
  const commit = git(root, 'rev-parse', 'HEAD');
  const isChanged = git(root, 'status', '--porcelain', '--untracked-files=no');
  const materials = nodeMaterials().map(({ name, version: node, integrity }) => ({
    uri: `pkg:npm/${name}@${node}`,
    digest: { sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') },
  }));
  const lock = { uri: 'package-lock.json', digest: { sha256: sha256Of(join(root, 'package-lock.json')) } };
  const source = { uri: 'git+https://everynode.dev', digest: { gitCommit: commit } };
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: releaseFiles(folder).map((name) => ({ name, digest: { sha256: sha256Of(join(folder, name)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://everynode.dev/npm-run-release/v1',
        externalParameters: { version, ...parameters },
        // With changes the commit alone does not reproduce the release.
        internalParameters: { uncommittedChanges: Boolean(isChanged), node: process.version },
        resolvedDependencies: [...(commit ? [source] : []), lock, ...materials],
      },
      runDetails: {
        builder: { id: process.env.EVERYNODE_BUILDER_ID ?? 'https://everynode.dev/local-build' },
      },
    },
  };
  writeFileSync(target, `${JSON.stringify(statement, null, 2)}\n`);
}

/** Writes the checksums of all files, their signature and the public key. */
export function signRelease(folder, privateKey) {
  const sums = releaseFiles(folder)
    .map((name) => `${sha256Of(join(folder, name))}  ${name}\n`)
    .join('');
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  const signature = sign(null, Buffer.from(sums), privateKey).toString('base64');
  writeFileSync(join(folder, 'SHA256SUMS.sig'), `${signature}\n`);
  writeFileSync(
    join(folder, 'release.pub'),
    createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }),
  );
}

function releaseFiles(folder) {
  return readdirSync(folder)
    .filter((name) => name.startsWith('everynode-'))
    .sort();
}

function sha256Of(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
