/** Runs an action on many hosts, a few at a time. Collects failures and the functions that undo it. */

export interface BulkState {
  total: number;
  done: number;
  failed: readonly { name: string; problem: string }[];
  isOver: boolean;
}

interface Undone<Undo> {
  name: string;
  undo: Undo;
}

/** Returns the delay before a retry in milliseconds, or undefined if the error is permanent. */
type RetryDelay = (error: unknown) => number | undefined;

interface BulkOptions<Undo> {
  names: readonly string[];
  /** Resolves with the function that undoes the action. */
  act: (name: string) => Promise<Undo>;
  retryDelay: RetryDelay;
  onProgress: (state: BulkState) => void;
  /** Hosts whose action has not started yet are skipped after an abort. */
  signal: AbortSignal;
  atOnce?: number;
  wait?: (ms: number) => Promise<void>;
}

const AT_ONCE = 8;
const MAX_WAITS = 60;

/** Resolves when all hosts are done, failed or skipped. The result holds how to undo the successful ones. */
export async function runBulk<Undo>(options: BulkOptions<Undo>): Promise<readonly Undone<Undo>[]> {
  const { names, act, retryDelay, onProgress, signal, atOnce = AT_ONCE, wait = waitMs } = options;
  const done: Undone<Undo>[] = [];
  let failed: BulkState['failed'] = [];
  const left = [...names].reverse();
  const report = (isOver: boolean) => onProgress({ total: names.length, done: done.length, failed, isOver });
  const one = async (name: string) => {
    for (let waits = 0; ; waits += 1) {
      try {
        done.push({ name, undo: await act(name) });
        return;
      } catch (error) {
        const waitForMs = waits < MAX_WAITS && !signal.aborted ? retryDelay(error) : undefined;
        if (waitForMs === undefined) {
          const problem = error instanceof Error ? error.message : String(error);
          failed = [...failed, { name, problem }];
          return;
        }
        await wait(waitForMs);
      }
    }
  };
  const worker = async () => {
    for (let name = left.pop(); name !== undefined && !signal.aborted; name = left.pop()) {
      await one(name);
      report(false);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, names.length) }, worker));
  report(true);
  return done;
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
