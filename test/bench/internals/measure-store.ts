/** The store: durable changes a second, fsyncs, and file growth. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compaction } from '../../../coordinator/store/log/history-retention.js';
import type { BenchContext } from '../bench-section.js';
import { SqliteRows } from '../floors/sqlite-rows.js';
import { pairs, wallMs } from '../paired-runs.js';
import { measureFsyncs } from './measure-fsyncs.js';
import { openStore, podKeys, podValue, VALUE_BYTES, writeAll } from './store-load.js';

const WRITERS = 1_000;
/** Compactions in a day. */
const COMPACTIONS_A_DAY = 288;

export async function measureStore(bench: BenchContext): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'everynode-bench-'));
  try {
    bench.progress('store: changes a second');
    await measureThroughput(bench, scratch);
    bench.progress('store: fsyncs');
    await measureFsyncs(bench, scratch);
    bench.progress("store: the file's size");
    await measureFileSize(bench, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measureThroughput({ quick, report }: BenchContext, scratch: string): Promise<void> {
  const keys = podKeys(quick ? 5_000 : 20_000);
  const rows = new SqliteRows(join(scratch, 'rows.db'));
  const store = await openStore(join(scratch, 'throughput'));
  await writeAll(keys, WRITERS, (key) => store.create(key, podValue(0)));
  let turn = 0;
  const each = async (work: () => Promise<void> | void) => ((await wallMs(work)) * 1000) / keys.length;
  const values = await pairs(
    5,
    () => each(() => rows.write(keys, podValue(++turn))),
    () => each(() => writeAll(keys, WRITERS, (key) => store.update(key, podValue(++turn)))),
  );
  rows.close();
  await store.close();
  report({
    ...{ section: 'parts', number: '15', unit: 'µs', goal: { kind: 'ratio', most: 1.5 } },
    ...{ name: 'durable change of a Pod, 1,000 writers', ...values },
  });
}

async function measureFileSize({ quick, report }: BenchContext, scratch: string): Promise<void> {
  const pods = quick ? 10_000 : 100_000;
  // File sizes do not depend on the machine's load, so both may run at once.
  const [ofADay, atOnce] = await Promise.all([
    fileShare(join(scratch, 'day'), pods, COMPACTIONS_A_DAY),
    fileShare(join(scratch, 'burst'), pods, 0),
  ]);
  const goal = { kind: 'ratio', most: 1.4 } as const;
  const result = { section: 'parts', number: '15', unit: 'MB', goal } as const;
  report({ ...result, name: `file after ten changes to each of ${pods} Pods within a day`, ...ofADay });
  report({
    ...result,
    name: `file after ten changes to each of ${pods} Pods within five minutes`,
    ...atOnce,
  });
}

/** The file's size and the size of its content, MB, after `compactions` spread evenly over ten changes of each Pod. */
async function fileShare(
  dataDir: string,
  pods: number,
  compactions: number,
): Promise<{ product: number[]; floor: number[] }> {
  const store = await openStore(dataDir);
  const compaction = new Compaction(store);
  const keys = podKeys(pods);
  await writeAll(keys, WRITERS, (key) => store.create(key, podValue(0)));
  const changed = Array.from({ length: 10 }, () => keys).flat();
  const slice = compactions > 0 ? Math.ceil(changed.length / compactions) : changed.length;
  for (let from = 0; from < changed.length; from += slice) {
    await writeAll(changed.slice(from, from + slice), WRITERS, (key) => store.update(key, podValue(from)));
    if (compactions > 0) await compaction.run();
  }
  await store.close();
  const { size } = statSync(join(dataDir, 'everynode.db'));
  rmSync(dataDir, { recursive: true });
  return { product: [size / 1e6], floor: [(pods * VALUE_BYTES) / 1e6] };
}
