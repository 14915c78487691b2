/** The image of the sandbox container, which holds a Pod's namespaces. It is built here, never pulled. */
import { createHash } from 'node:crypto';
import { RuntimeError } from '../runtime-driver.js';
import { imageArchive } from './sandbox-image-archive.js';
import { SANDBOX_PROGRAMS } from './sandbox-program.js';

interface SandboxImage {
  /** Contains a hash of the program. Engines do not look for `localhost/` in a registry. */
  name: string;
  /** Builds the archive that an engine loads. */
  archive(): Promise<Buffer>;
}

/** Go's names of architectures, by the kernel's names, which engines report. */
const GO_ARCHITECTURE: Record<string, string> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  armv7l: 'arm',
  armv6l: 'arm',
};

/** `architecture` is the kernel's or Go's name. Throws `RuntimeError` when there is no program for it. */
export function sandboxImage(architecture: string): SandboxImage {
  const go = GO_ARCHITECTURE[architecture] ?? architecture;
  const program = SANDBOX_PROGRAMS[go];
  if (program === undefined) {
    throw new RuntimeError(
      'CreateContainerError',
      `no sandbox program for architecture ${architecture}`,
      false,
    );
  }
  const bytes = Buffer.from(program, 'base64');
  const name = `localhost/everynode/sandbox:${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`;
  return {
    name,
    archive: () =>
      imageArchive({
        tags: [name],
        architecture: go,
        files: [{ path: 'sandbox', bytes, mode: 0o755 }],
        config: { Entrypoint: ['/sandbox'] },
      }),
  };
}
