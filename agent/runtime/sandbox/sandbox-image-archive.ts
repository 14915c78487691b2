/** Writes container images in the format of `docker save`, which both engines load. */
import { createHash } from 'node:crypto';

interface ArchivedFile {
  path: string;
  bytes: Uint8Array;
  /** Permission bits. */
  mode: number;
}

/** An image with one layer. */
interface ImageSource {
  /** Names of the image, with tags. */
  tags: string[];
  /** Go's name, such as `amd64`. */
  architecture: string;
  files: readonly ArchivedFile[];
  /** The image's config: Entrypoint, Cmd, Env, StopSignal … */
  config: Record<string, unknown>;
}

/** Returns the archive to load. Equal sources make equal images. */
export async function imageArchive({ tags, architecture, files, config }: ImageSource): Promise<Buffer> {
  const layer = await tarArchive(files);
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

/** All files belong to root and have the time 0, so that equal files make equal bytes. */
async function tarArchive(files: readonly ArchivedFile[]): Promise<Buffer> {
  // Loaded when an image is missing: most agents never build one.
  const { pack } = await import('tar-stream');
  const archive = pack();
  for (const { path, bytes, mode } of files) {
    archive.entry({ name: path, mode, mtime: new Date(0) }, Buffer.from(bytes), () => undefined);
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
