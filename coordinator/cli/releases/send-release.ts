/** Sends a release to the API of a coordinator, which verifies it again and adds all of it or nothing. */
import type { FileHandle } from 'node:fs/promises';
import { ExitError } from '../../../shared/process/exit-error.js';
import type { ReleaseDocument, ReleaseUploadDocument } from '../../api/releases/release-resources.js';
import { RELEASES_PATH } from '../../api/releases/release-trust.js';
import { parseSums, ReleaseError } from '../../api/releases/signed-sums.js';
import type { ApiClient } from '../client/api-client.js';
import { type AddedRelease, requireSameFiles, verifyBytes } from './add-release.js';
import { openReleaseFolder, type ReleaseFolder } from './release-folder.js';

interface Sending {
  signal: AbortSignal;
  /** Shows how many of the bytes were sent. */
  onProgress: (sentBytes: number, allBytes: number) => void;
}

/**
 * Compares all files of the folder with the list, and sends those that hosts download. Throws `ReleaseError`, ApiError,
 * or the signal's reason; the coordinator has not changed then.
 */
export async function sendRelease(api: ApiClient, folder: string, sending: Sending): Promise<AddedRelease> {
  const source = await openReleaseFolder(folder);
  try {
    // Without the coordinator's key this proves nothing about the signer. It finds a damaged copy before it is sent.
    const listed = parseSums(source.sums);
    requireSameFiles(listed, source);
    for (const [name, sum] of listed.sums)
      await verifyBytes(source, { name, sum }, undefined, sending.signal);
    const upload = await unchanged(() => sendFiles(api, source, sending));
    return await api.request<ReleaseDocument>('POST', `${RELEASES_PATH}?${new URLSearchParams({ upload })}`);
  } finally {
    await source.close();
  }
}

/** Adds to errors of the connection that the coordinator has not changed: only the end of the upload changes it. */
async function unchanged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    throw new ExitError(error.code, `${error.sentence} Nothing was changed: add the release again.`);
  }
}

/** Returns the id of the upload, which has all files. */
async function sendFiles(api: ApiClient, source: ReleaseFolder, sending: Sending): Promise<string> {
  const { sums, signature, key } = source;
  const sizes = await sizesOf(source.files);
  const list = { sums, signature, ...(key === undefined ? {} : { key }), sizes };
  const { upload, files, pieceBytes } = await api.request<ReleaseUploadDocument>('POST', RELEASES_PATH, list);
  const allBytes = files.reduce((sum, name) => sum + (sizes[name] ?? 0), 0);
  let sentBytes = 0;
  for (const name of files) {
    const file = source.files.get(name);
    if (!file) throw new ReleaseError(`the coordinator asks for ${name}, which it does not have`);
    for (let at = 0; at < (sizes[name] ?? 0); ) {
      sending.signal.throwIfAborted();
      const { bytesRead, buffer } = await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes, at);
      if (bytesRead === 0) throw new ReleaseError(`${name} was truncated while it was read`);
      const piece = new URLSearchParams({ upload, file: name, at: String(at) });
      await api.request('POST', `${RELEASES_PATH}?${piece}`, buffer.subarray(0, bytesRead));
      at += bytesRead;
      sentBytes += bytesRead;
      sending.onProgress(sentBytes, allBytes);
    }
  }
  return upload;
}

async function sizesOf(files: ReadonlyMap<string, FileHandle>): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const [name, file] of files) sizes[name] = (await file.stat()).size;
  return sizes;
}
