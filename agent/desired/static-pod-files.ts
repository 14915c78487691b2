/** Reads the manifests of static Pods: one Pod per file, YAML or JSON. */
import { join } from 'node:path';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { staticPod } from '../decisions/static-pods/static-pod-manifest.js';
import type { ManifestDirectory } from './static-pod-directory.js';

/** A manifest file and its Pod; absent if the file is invalid. */
export interface Manifest {
  file: string;
  pod?: Pod;
}

/** Limit of all manifests, bytes: their mirror Pods are sent in one message. */
const MAX_BYTES = 1024 * 1024;

/** Reads all manifests by name, without hidden files. Rejects if the directory cannot be listed. */
export async function readManifests(
  directory: ManifestDirectory,
  nodeName: string,
  now: number,
  log: Logger,
): Promise<Manifest[]> {
  const names = (await directory.names()).filter((name) => !name.startsWith('.')).sort();
  const manifests: Manifest[] = [];
  let bytes = 0;
  for (const file of names) {
    const path = join(directory.path, file);
    const refuse = (why: string): void => {
      log.error({ path, why }, 'manifest is invalid; its running Pod is kept');
      manifests.push({ file });
    };
    const text = await directory.text(file).catch((error: Error) => error);
    if (text instanceof Error) refuse(text.message);
    if (typeof text !== 'string') continue;
    bytes += Buffer.byteLength(text);
    if (bytes > MAX_BYTES) {
      refuse(`the directory holds more than ${MAX_BYTES} bytes`);
      continue;
    }
    const decoded = await decode(text);
    const result = decoded.error ?? staticPod(decoded.value, { path, nodeName }, now);
    if (typeof result === 'string') refuse(result);
    else if (result.kind === 'refused') refuse(result.message);
    else manifests.push({ file, pod: result.pod });
  }
  return manifests;
}

async function decode(text: string): Promise<{ value?: unknown; error?: string }> {
  // Loaded on demand: hosts without manifests save the parser's memory.
  const { parse } = await import('yaml');
  try {
    return { value: parse(text) };
  } catch (error) {
    return { error: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}
