/** Number of fsyncs by the store, counted by strace. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchContext } from '../bench-section.js';

const PROGRAM = fileURLToPath(new URL('./fsync-load.js', import.meta.url));
const ALONE = 200;
const AT_ONCE = 10_000;

export async function measureFsyncs(
  { report, skip: leaveOut }: BenchContext,
  scratch: string,
): Promise<void> {
  if (spawnSync('strace', ['-V']).status !== 0) {
    leaveOut('fsyncs of the store', 'strace is not installed');
    return;
  }
  const openingAndClosing = countFsyncs(join(scratch, 'none'), 0, 1);
  const each = (writes: number, writers: number) =>
    (countFsyncs(join(scratch, `${writers}`), writes, writers) - openingAndClosing) / writes;
  const result = { section: 'parts', number: '15', unit: 'fsyncs a change', floor: [] } as const;
  report({
    ...{ ...result, name: 'changes one after another', product: [each(ALONE, 1)] },
    // One fsync a write, plus some for checkpoints of the log.
    goal: { kind: 'product', most: 1.05 },
  });
  report({
    ...{ ...result, name: `changes ${AT_ONCE} at once`, product: [each(AT_ONCE, AT_ONCE)] },
    goal: { kind: 'product', most: 0.01 },
  });
}

function countFsyncs(dataDir: string, writes: number, writers: number): number {
  const trace = `${dataDir}.strace`;
  const command = ['-f', '-e', 'trace=fsync,fdatasync', '-o', trace, process.execPath, PROGRAM];
  execFileSync('strace', [...command, dataDir, String(writes), String(writers)]);
  return readFileSync(trace, 'utf8').match(/\bf(data)?sync\(/g)?.length ?? 0;
}
