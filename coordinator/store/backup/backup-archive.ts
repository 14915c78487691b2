/** The file format of a backup: a gzipped tar. Its first entry, the manifest, lists the files with checksums. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Header, type Pack, pack } from 'tar-stream';
import { makePrivateDirectory, syncDirectory } from '../../../shared/process/files/private-file.js';
import { DATABASE_FILE } from '../data-files.js';
import { StoreError, toStoreError } from '../store-error.js';

const MANIFEST = 'backup.json';
const FORMAT = 2;
const MAX_MANIFEST_BYTES = 1_048_576;
/** The only names that a backup may unpack into a data directory. A manipulated manifest cannot write elsewhere. */
const ALLOWED_NAME = /^(everynode\.db|kubeconfig|pki\/[a-z0-9][a-z0-9._-]*)$/;

interface BackedUpFile {
  /** Relative to the data directory. */
  name: string;
  size: number;
  /** Lower-case hex. */
  sha256: string;
}

export interface BackupManifest {
  format: number;
  clusterUID: string;
  /** Epoch and last revision of the log when the backup was taken. */
  epoch: string;
  revision: number;
  /** ms since the epoch. */
  takenAt: number;
  files: BackedUpFile[];
}

/** A file to back up. */
export interface BackupSource {
  name: string;
  path: string;
}

async function describeFile({ name, path }: BackupSource): Promise<BackedUpFile> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { name, size: (await stat(path)).size, sha256: hash.digest('hex') };
}

function addText(archive: Pack, header: Header, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Writes the archive durably with mode 0600. After a crash, `path` holds the complete new backup or the previous file.
 */
export async function packBackup(
  path: string,
  about: Omit<BackupManifest, 'format' | 'files'>,
  sources: readonly BackupSource[],
): Promise<BackupManifest> {
  const files = await Promise.all(sources.map(describeFile));
  const manifest: BackupManifest = { format: FORMAT, ...about, files };
  const mtime = new Date(about.takenAt);
  const archive = pack();
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const written = pipeline(archive, createGzip(), createWriteStream(temporary, { mode: 0o600, flush: true }));
  const filled = (async () => {
    await addText(archive, { name: MANIFEST, mode: 0o600, mtime }, JSON.stringify(manifest));
    for (const [index, { name, size }] of files.entries()) {
      const from = sources[index]?.path ?? '';
      await pipeline(
        createReadStream(from),
        archive.entry({ name, size, mode: 0o600, mtime }, () => undefined),
      );
    }
    archive.finalize();
  })();
  await Promise.all([written, filled]);
  await rename(temporary, path);
  await syncDirectory(dirname(path));
  return manifest;
}

/**
 * Unpacks into an empty directory and verifies every checksum. Throws StoreError `damaged` for an incomplete or changed
 * backup, `newer` or `older` for another format.
 */
export async function unpackBackup(path: string, directory: string): Promise<BackupManifest> {
  makePrivateDirectory(join(directory, 'pki'));
  try {
    return await new Unpacking(path, directory).run();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const { code = '', message = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new StoreError('damaged', `there is no backup at ${path}`);
    // zlib and tar report an invalid archive; other errors come from the disk.
    if (code.startsWith('Z_') || code === '') {
      throw new StoreError('damaged', `${path} is not a complete backup (${message})`);
    }
    throw toStoreError(error, path);
  }
}

class Unpacking {
  readonly #path: string;
  readonly #directory: string;
  #manifest: BackupManifest | undefined;
  readonly #missing = new Map<string, BackedUpFile>();

  constructor(path: string, directory: string) {
    this.#path = path;
    this.#directory = directory;
  }

  async run(): Promise<BackupManifest> {
    const archive = extract();
    archive.on('entry', (header, content, next) => {
      this.#take(header, content).then(
        () => next(),
        (error: Error) => next(error),
      );
    });
    await pipeline(createReadStream(this.#path), createGunzip(), archive);
    if (!this.#manifest || this.#missing.size > 0) throw this.#damaged('files are missing');
    return this.#manifest;
  }

  async #take({ name, size = 0, type }: Header, content: Readable): Promise<void> {
    if (!this.#manifest) {
      if (name !== MANIFEST || size > MAX_MANIFEST_BYTES)
        throw this.#damaged(`it does not begin with ${MANIFEST}`);
      this.#manifest = this.#readManifest((await buffer(content)).toString());
      return;
    }
    const expected = this.#missing.get(name);
    if (!expected || type !== 'file') throw this.#damaged(`${name} is not in its manifest`);
    this.#missing.delete(name);
    const target = join(this.#directory, name);
    await pipeline(content, createWriteStream(target, { mode: 0o600, flags: 'wx', flush: true }));
    const found = await describeFile({ name, path: target });
    if (found.sha256 !== expected.sha256) throw this.#damaged(`${name} does not match its checksum`);
  }

  #readManifest(text: string): BackupManifest {
    const manifest = JSON.parse(text) as BackupManifest;
    if (manifest.format > FORMAT) {
      throw new StoreError(
        'newer',
        `${this.#path} was written by a newer version: restore it with that version or a later one`,
      );
    }
    if (manifest.format < FORMAT) {
      throw new StoreError(
        'older',
        `${this.#path} was written by an older version, whose backups this version cannot read`,
      );
    }
    for (const file of manifest.files) {
      if (!ALLOWED_NAME.test(file.name)) throw this.#damaged(`${file.name} must not be in a backup`);
      this.#missing.set(file.name, file);
    }
    if (!this.#missing.has(DATABASE_FILE)) throw this.#damaged('it contains no database');
    return manifest;
  }

  #damaged(why: string): StoreError {
    return new StoreError('damaged', `${this.#path} is not a complete backup: ${why}`);
  }
}
