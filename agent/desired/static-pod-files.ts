/** Reads the manifests of static Pods: one Pod a file, YAML or JSON. */
import { join } from 'node:path';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { staticPod } from '../decisions/static-pods/static-pod-manifest.js';
import type { ManifestDirectory } from './static-pod-directory.js';

/** A manifest's file and its Pod; without one, the file is there and cannot be used. */
export interface Manifest {
  file: string;
  pod?: Pod;
}

/** Beyond this much text the rest is left out, bytes: their mirrors go to the coordinator in one message. */
const MAX_BYTES = 1024 * 1024;

/** All manifests of the directory by name, hidden files left out. Throws what listing it says. */
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
      log.error({ path, why }, 'manifest cannot be used; what ran of it goes on');
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
  // Hosts without manifests, nearly all, do without the parser's memory.
  const { parse } = await import('yaml');
  try {
    return { value: parse(text) };
  } catch (error) {
    return { error: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}
