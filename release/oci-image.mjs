/**
 * Writes an image as one archive that `docker load`, `podman load` and `skopeo` take: an OCI image layout
 * (https://github.com/opencontainers/image-spec/blob/main/image-layout.md), and `manifest.json` for Docker before 25.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { compressed, tarOf } from './file-layout.mjs';

const OCI = 'application/vnd.oci.image';

function digestOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Collects the archive's blobs by their content. */
class Blobs {
  layout = new Map();

  /** Returns the descriptor of the blob. */
  add(mediaType, bytes) {
    const digest = digestOf(bytes);
    this.layout.set(`/blobs/sha256/${digest}`, { text: bytes, mode: 0o644 });
    return { mediaType: `${OCI}.${mediaType}`, digest: `sha256:${digest}`, size: bytes.length };
  }
}

/**
 * Writes the image `name` to `target`. `layers` are layouts of files, `config` is the part of the image's configuration
 * that says how to run it.
 */
export async function writeImage({ target, name, architecture, layers, config, epoch, fast }) {
  const blobs = new Blobs();
  const diffIds = [];
  const layerDescriptors = [];
  for (const layer of layers) {
    const archive = await tarOf(layer, epoch);
    diffIds.push(`sha256:${digestOf(archive)}`);
    layerDescriptors.push(blobs.add('layer.v1.tar+gzip', compressed(archive, fast ? 1 : 9)));
  }
  const json = (mediaType, value) => blobs.add(mediaType, Buffer.from(JSON.stringify(value)));
  const imageConfig = json('config.v1+json', {
    created: new Date(epoch * 1000).toISOString(),
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: diffIds },
    history: diffIds.map(() => ({ created_by: 'npm run release' })),
  });
  const manifest = json('manifest.v1+json', {
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: imageConfig,
    layers: layerDescriptors,
  });
  const annotations = {
    'io.containerd.image.name': name,
    'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
  };
  const pathOf = ({ digest }) => `blobs/${digest.replace(':', '/')}`;
  const text = (value) => ({ text: JSON.stringify(value), mode: 0o644 });
  const archive = await tarOf(
    new Map([
      ...blobs.layout,
      ['/oci-layout', text({ imageLayoutVersion: '1.0.0' })],
      ['/index.json', text({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] })],
      [
        '/manifest.json',
        text([{ Config: pathOf(imageConfig), RepoTags: [name], Layers: layerDescriptors.map(pathOf) }]),
      ],
    ]),
    epoch,
  );
  writeFileSync(target, archive);
}
