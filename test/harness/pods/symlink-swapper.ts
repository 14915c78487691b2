/** A container that swaps a folder of its volume for a symbolic link, at each step that the agent takes there in turn. */
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { FileDescriptor } from '../../../agent/volumes/file-descriptor.js';

/** A volume with a folder `p`, and a folder of the host next to it. */
export interface Swapped {
  volume: string;
  host: string;
}

const STEPS = [
  'child',
  'entry',
  'entries',
  'linkTarget',
  'makeFolder',
  'setMode',
  'setGroup',
  'parent',
] as const;

/**
 * Runs `attempt` repeatedly, each time on fresh folders. In the first run `p` becomes a link to the host's folder before the first step, in
 * the second run before the second step, and so on. Returns the number of steps.
 */
export async function swapSymlinkAtEachStep(
  context: TestContext,
  folder: string,
  attempt: (swapped: Swapped, step: number) => Promise<void>,
): Promise<number> {
  let left = 0;
  let swap: () => void = () => undefined;
  const countDown = () => {
    left -= 1;
    if (left === 0) swap();
  };
  for (const name of STEPS) {
    const original = FileDescriptor.prototype[name] as (...args: unknown[]) => unknown;
    context.mock.method(
      FileDescriptor.prototype,
      name,
      function step(this: FileDescriptor, ...args: unknown[]) {
        countDown();
        return original.apply(this, args);
      },
    );
  }
  for (let step = 1; ; step += 1) {
    const swapped = freshFolders(folder);
    swap = () => {
      renameSync(join(swapped.volume, 'p'), join(swapped.volume, 'q'));
      symlinkSync(swapped.host, join(swapped.volume, 'p'));
    };
    left = step;
    await attempt(swapped, step);
    if (left > 0) return step - 1;
  }
}

function freshFolders(folder: string): Swapped {
  const own = mkdtempSync(join(folder, 'swapped-'));
  const [volume, host] = [join(own, 'volume'), join(own, 'host')];
  mkdirSync(join(volume, 'p/below'), { recursive: true });
  mkdirSync(join(host, 'below'), { recursive: true, mode: 0o700 });
  writeFileSync(join(volume, 'p/below/file'), 'of the volume');
  writeFileSync(join(host, 'below/file'), 'x'.repeat(1024 * 1024), { mode: 0o600 });
  return { volume, host };
}
