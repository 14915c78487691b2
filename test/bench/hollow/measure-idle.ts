/** An idle fleet: CPU, memory and bytes of each agent. */
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-section.js';
import type { FloorFleet } from './floor-fleet.js';
import type { HollowFleet } from './hollow-fleet.js';

/** One heartbeat interval of each agent. */
const WINDOW_MS = 10_000;

export async function measureIdle(
  { report, skip: leaveOut }: BenchContext,
  floor: FloorFleet,
  product: HollowFleet,
  windows: number,
): Promise<void> {
  const { agents } = product;
  await product.untilQuiet();
  const cpu = { floor: [] as number[], product: [] as number[] };
  const bytes: number[] = [];
  for (let window = 0; window < windows; window += 1) {
    const before = linkBytes(product.port);
    // Measure both in the same period.
    const wait = pause(WINDOW_MS);
    const [bare, ours] = await Promise.all([floor.cost.during(() => wait), product.cost.during(() => wait)]);
    const after = linkBytes(product.port);
    cpu.floor.push((bare / WINDOW_MS) * 100);
    cpu.product.push((ours / WINDOW_MS) * 100);
    if (before !== undefined && after !== undefined) bytes.push((after - before) / agents);
  }
  report({
    ...{ section: 'hollow', number: '10', unit: '% of a core', goal: { kind: 'ratio', most: 1.3 } },
    ...{ name: `idle CPU with ${agents} agents`, ...cpu },
  });
  if (bytes.length === 0) leaveOut('bytes of an idle agent', 'ss (iproute2) is not installed');
  else {
    report({
      ...{ section: 'hollow', number: '20', unit: 'B', floor: [], goal: { kind: 'product', most: 75 } },
      ...{ name: 'bytes of an idle agent in 10 s, both ways, TLS included', product: bytes },
    });
  }
}

/** Bytes on all connections of a loopback port, both directions; undefined if the system does not count them. */
function linkBytes(port: number): number | undefined {
  const filter = ['state', 'established', `( sport = :${port} )`];
  let lines: string;
  try {
    lines = execFileSync('ss', ['-tinH', ...filter], { encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const counts = [...lines.matchAll(/\bbytes_(?:sent|received):(\d+)/g)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
