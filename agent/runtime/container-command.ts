/** Runs a command in a container to its end, for probes and hooks. */
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import { type ExecProcess, type RuntimeDriver, RuntimeError } from './runtime-driver.js';

/** Limit of the output that is kept, like the kubelet's (`pkg/probe/exec` maxReadLength). */
export const MAX_OUTPUT_BYTES = 10 * 1024;

/** `output` contains the first bytes of stdout and stderr in order, up to the limit. */
type CommandResult =
  | { kind: 'ended'; exitCode: number; output: Buffer }
  | { kind: 'timedOut'; output: Buffer };

/**
 * Runs `command` in a running container for at most `deadlineMs`. At the deadline the process is killed if the agent
 * has permission to (`ExecProcess.kill`), and its streams are closed in any case. Throws `RuntimeError` like `exec`.
 */
export async function runContainerCommand(
  driver: Pick<RuntimeDriver, 'exec'>,
  id: string,
  command: readonly string[],
  deadlineMs: number,
  clock: Clock,
): Promise<CommandResult> {
  const abort = new AbortController();
  const collected = new FirstBytes(MAX_OUTPUT_BYTES);
  let running: ExecProcess | undefined;
  let timer: Timer | undefined;
  const late = new Promise<'timedOut'>((resolve) => {
    timer = clock.after(deadlineMs, () => resolve('timedOut'));
  });
  const ended = (async () => {
    running = await driver.exec(id, { command, stdin: false, tty: false }, abort.signal);
    for await (const { bytes } of running.output) collected.add(bytes);
    return running.exitCode();
  })();
  try {
    const exitCode = await Promise.race([ended, late]);
    if (exitCode !== 'timedOut') return { kind: 'ended', exitCode, output: collected.bytes };
    await running?.kill().catch(ignoreRuntimeError);
    return { kind: 'timedOut', output: collected.bytes };
  } finally {
    timer?.cancel();
    abort.abort();
    // The closed streams may still fail, but no caller waits for them.
    ended.catch(() => undefined);
  }
}

function ignoreRuntimeError(error: unknown): void {
  if (!(error instanceof RuntimeError)) throw error;
}

/** Keeps the first bytes of a stream. */
class FirstBytes {
  readonly #chunks: Uint8Array[] = [];
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  add(bytes: Uint8Array): void {
    if (this.#left === 0) return;
    const kept = bytes.subarray(0, this.#left);
    this.#left -= kept.length;
    this.#chunks.push(kept);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
