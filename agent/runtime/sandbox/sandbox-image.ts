/** The image whose container holds a Pod's network and IPC namespaces: one program, made here, pulled from nowhere. */
import { createHash } from 'node:crypto';
import { RuntimeError } from '../runtime-driver.js';
import { imageArchive } from './sandbox-image-archive.js';
import { SANDBOX_PROGRAMS } from './sandbox-program.js';

interface SandboxImage {
  /** Names the content, so another program is another image; `localhost/` is asked of no registry. */
  name: string;
  /** Builds the archive that an engine loads. */
  archive(): Promise<Buffer>;
}

/** What the kernel calls an architecture (as engines report it), by Go's name. */
const GO_ARCHITECTURE: Record<string, string> = { x86_64: 'amd64', aarch64: 'arm64' };

/** `architecture` in the kernel's or Go's words. Throws `RuntimeError` when there is no program for it. */
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
