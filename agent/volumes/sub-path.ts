/** The part of a volume that a mount asks for (pkg/kubelet/kubelet_pods.go makeMounts, pkg/volume/util/subpath). */
import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import type { VolumeMount } from '../../shared/kube/pod.js';
import { VolumeError } from './volume-error.js';

/** The mount's path in its volume, `$(VAR)` in `subPathExpr` replaced; "" for the whole volume. Throws `VolumeError` in a kubelet's words. */
export function subPathOf(mount: VolumeMount, environment: ReadonlyMap<string, string>): string {
  const { name, subPath = '', subPathExpr } = mount;
  if (!subPathExpr) return subPath;
  const expanded = subPathExpr.replace(/\$(\$|\(([^)]*)\))/g, (_, what: string, variable = '') => {
    if (what === '$') return '$';
    const value = environment.get(variable);
    if (value === undefined) throw new VolumeError(name, `missing value for "${variable}"`);
    return value;
  });
  if (isAbsolute(expanded))
    throw new VolumeError(name, `error SubPath "${expanded}" must not be an absolute path`);
  if (expanded.split('/').includes('..')) {
    throw new VolumeError(name, `unable to provision SubPath "${expanded}": must not contain '..'`);
  }
  return expanded;
}

/** The folder or file below the volume's root; a folder is created if nothing is there. A link that leads out of the volume is refused. */
export async function resolveSubPath(volume: string, root: string, path: string): Promise<string> {
  const target = join(root, path);
  // Whatever is there already: it may be a file.
  await mkdir(target, { recursive: true, mode: 0o750 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const [real, realRoot] = await Promise.all([realpath(target), realpath(root)]);
  if (real === realRoot || real.startsWith(realRoot === sep ? sep : realRoot + sep)) return real;
  throw new VolumeError(volume, `subPath "${path}" not within volume path`);
}
