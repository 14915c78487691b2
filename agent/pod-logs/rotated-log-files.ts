/** Compresses and removes rotated log files. */

import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  COMPRESSED_SUFFIX,
  cleanupAfterRotation,
  type RotationLimits,
  TEMPORARY_SUFFIX,
} from '../decisions/pod-logs/log-rotation.js';
import type { PodLogFolder } from './pod-log-folder.js';

/** The fastest level takes half of the default's CPU time, for files that are about a twentieth larger. */
const LEVEL = 1;

/** Resolves when the folder has no more files of this attempt than allowed, all compressed but the two newest. */
export async function cleanRotatedFiles(
  folder: PodLogFolder,
  file: string,
  limits: RotationLimits,
): Promise<void> {
  const { remove, compress } = cleanupAfterRotation(file, await folder.names(), limits);
  for (const name of remove) await folder.remove(name);
  for (const name of compress) await compressFile(folder, name);
}

/** Writes `NAME.gz` and removes `NAME`. An interrupted run leaves a temporary file for the next cleanup. */
async function compressFile(folder: PodLogFolder, name: string): Promise<void> {
  const temporary = `${name}${TEMPORARY_SUFFIX}`;
  const input = await folder.read(name);
  try {
    const output = await folder.append(temporary);
    await pipeline(input.createReadStream(), createGzip({ level: LEVEL }), output.createWriteStream());
  } finally {
    await input.close();
  }
  await folder.rename(temporary, `${name}${COMPRESSED_SUFFIX}`);
  await folder.remove(name);
}
