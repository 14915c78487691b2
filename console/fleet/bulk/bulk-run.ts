/** The same done to many hosts: a few at a time, each failure kept by itself, and what would undo it. */

/** How far it has come. */
export interface BulkState {
  total: number;
  done: number;
  failed: readonly { name: string; problem: string }[];
  isOver: boolean;
}

/** What would undo it, of one host. */
interface Undone<Undo> {
  name: string;
  undo: Undo;
}

/** What became of one try: `again` after so many ms (the coordinator asked for patience). */
type Patience = (error: unknown) => number | undefined;

interface BulkOptions<Undo> {
  names: readonly string[];
  /** Answers what undoes it. */
  act: (name: string) => Promise<Undo>;
  /** How long to wait before the same is tried again; undefined: it has failed. */
  patience: Patience;
  onProgress: (state: BulkState) => void;
  /** What has not begun by then is not done. */
  signal: AbortSignal;
  /** How many at once. */
  atOnce?: number;
  wait?: (ms: number) => Promise<void>;
}

const AT_ONCE = 8;
const MOST_WAITS = 60;

/** Resolves when all were done, failed, or were left because `signal` was aborted; answers what undoes those that were done. */
export async function runBulk<Undo>(options: BulkOptions<Undo>): Promise<readonly Undone<Undo>[]> {
  const { names, act, patience, onProgress, signal, atOnce = AT_ONCE, wait = waitMs } = options;
  const done: Undone<Undo>[] = [];
  let failed: BulkState['failed'] = [];
  const left = [...names].reverse();
  const tell = (isOver: boolean) => onProgress({ total: names.length, done: done.length, failed, isOver });
  const one = async (name: string) => {
    for (let waits = 0; ; waits += 1) {
      try {
        done.push({ name, undo: await act(name) });
        return;
      } catch (error) {
        const waitForMs = waits < MOST_WAITS && !signal.aborted ? patience(error) : undefined;
        if (waitForMs === undefined) {
          const problem = error instanceof Error ? error.message : String(error);
          failed = [...failed, { name, problem }];
          return;
        }
        await wait(waitForMs);
      }
    }
  };
  const lane = async () => {
    for (let name = left.pop(); name !== undefined && !signal.aborted; name = left.pop()) {
      await one(name);
      tell(false);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, names.length) }, lane));
  tell(true);
  return done;
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
