/** Reads the manifests of static Pods: one Pod a file, YAML or JSON. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../shared/kube/pod.js';
import type { Logger } from '../../shared/process/log.js';
import { staticPod } from '../decisions/static-pod.js';

/** A manifest's file and its Pod; without one, the file is there and cannot be used. */
export interface Manifest {
  file: string;
  pod?: Pod;
}

/** Beyond this much text the rest is left out, bytes: their mirrors go to the coordinator in one message. */
const MAX_BYTES = 1024 * 1024;

/** All manifests of the directory by name, hidden files left out; none when there is no such directory. Throws what else reading it says. */
export async function readManifests(
  directory: string,
  nodeName: string,
  now: number,
  log: Logger,
): Promise<Manifest[]> {
  const names = (await namesIn(directory)).filter((name) => !name.startsWith('.')).sort();
  const manifests: Manifest[] = [];
  let bytes = 0;
  for (const file of names) {
    const path = join(directory, file);
    const refuse = (why: string): void => {
      log.error({ path, why }, 'manifest cannot be used; what ran of it goes on');
      manifests.push({ file });
    };
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => error);
    if (text instanceof Error) {
      // Removed since it was listed, or a folder.
      if (text.code !== 'ENOENT' && text.code !== 'EISDIR') refuse(text.message);
      continue;
    }
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

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
