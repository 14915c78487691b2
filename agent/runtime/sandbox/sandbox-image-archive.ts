/** Container images in the format that `docker save` writes and both engines load. */
import { createHash } from 'node:crypto';
import { type TarFile, tarArchive } from './tar-archive.js';

/** An image of one layer. */
interface ImageSource {
  /** Names with tag that it is to be known by. */
  tags: string[];
  /** Go's name, such as `amd64`. */
  architecture: string;
  files: readonly TarFile[];
  /** As in the image format: Entrypoint, Cmd, Env, StopSignal … */
  config: Record<string, unknown>;
}

/** The archive to load. Equal sources make equal images. */
export function imageArchive({ tags, architecture, files, config }: ImageSource): Buffer {
  const layer = tarArchive(files);
  const image = Buffer.from(
    JSON.stringify({
      architecture,
      os: 'linux',
      created: '1970-01-01T00:00:00Z',
      config,
      rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
      history: [{ created: '1970-01-01T00:00:00Z' }],
    }),
  );
  const name = `${sha256(image)}.json`;
  const manifest = Buffer.from(JSON.stringify([{ Config: name, RepoTags: tags, Layers: ['layer.tar'] }]));
  return tarArchive([
    { path: name, bytes: image, mode: 0o644 },
    { path: 'layer.tar', bytes: layer, mode: 0o644 },
    { path: 'manifest.json', bytes: manifest, mode: 0o644 },
  ]);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
