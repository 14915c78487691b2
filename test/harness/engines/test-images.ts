/**
 * Images for tests, made from this machine's static busybox and loaded by the engine's API, because no registry is
 * reachable.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch } from 'node:os';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { loadImages } from '../../../agent/runtime/docker/docker-images.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { imageArchive } from '../../../agent/runtime/sandbox/sandbox-image-archive.js';

/** Prints `ready`, waits, and exits with 0 on SIGTERM. It is the default command of the test images. */
export const WAITS = [
  '/bin/busybox',
  'sh',
  '-c',
  'trap "exit 0" TERM; echo ready; while :; do /bin/busybox sleep 3600 & wait $!; done',
];

/** Returns a shell command for a test image. */
export function shell(script: string): string[] {
  return ['/bin/busybox', 'sh', '-c', script];
}

/** One image under all of `tags` (with tag, such as `app:1`), as `docker load` takes it. `extraBytes` of chance make it large. */
export function testImageArchive(tags: string[], extraBytes = 0): Promise<Buffer> {
  return imageArchive({
    tags: tags.map(withDomain),
    architecture: arch() === 'arm64' ? 'arm64' : 'amd64',
    files: [
      { path: 'bin/busybox', bytes: readFileSync('/bin/busybox'), mode: 0o755 },
      { path: 'etc/passwd', bytes: Buffer.from('root:x:0:0:root:/:/bin/sh\n'), mode: 0o644 },
      ...(extraBytes > 0 ? [{ path: 'large', bytes: randomBytes(extraBytes), mode: 0o644 }] : []),
    ],
    config: { Entrypoint: WAITS, Env: ['PATH=/bin'] },
  });
}

/** An image in place of busybox' own, with scripts in /bin for the shell of busybox. It has no entrypoint. */
export function busyboxImageArchive(tag: string, scripts: Readonly<Record<string, string>>): Promise<Buffer> {
  const bytes = readFileSync('/bin/busybox');
  return imageArchive({
    tags: [withDomain(tag)],
    architecture: arch() === 'arm64' ? 'arm64' : 'amd64',
    files: [
      ...['busybox', 'sh'].map((name) => ({ path: `bin/${name}`, bytes, mode: 0o755 })),
      ...Object.entries(scripts).map(([name, script]) => ({
        path: `bin/${name}`,
        bytes: Buffer.from(`#!/bin/sh\n${script}\n`),
        mode: 0o755,
      })),
    ],
    config: { Cmd: ['sh'], Env: ['PATH=/bin'] },
  });
}

/** Loads such an image into an engine by its API. */
export async function loadTestImages(socketPath: string, tags: string[]): Promise<void> {
  await loadArchive(socketPath, await testImageArchive(tags));
}

/** Loads an archive of images, as `docker load` does. */
export async function loadArchive(socketPath: string, archive: Buffer): Promise<void> {
  const { apiVersion } = await askEngine({ socketPath });
  const api = new DockerApi({ socketPath }, apiVersion);
  try {
    await loadImages(api, archive);
  } finally {
    api.close();
  }
}

/**
 * Podman expands a short name with the domain `localhost`, Docker with `docker.io`. The full name is the same on both.
 */
function withDomain(tag: string): string {
  const [first = '', ...rest] = tag.split('/');
  const hasDomain = rest.length > 0 && /[.:]|^localhost$/.test(first);
  if (hasDomain) return tag;
  return rest.length > 0 ? `docker.io/${tag}` : `docker.io/library/${tag}`;
}
