/** Serves `kubectl exec` and `attach`: a process in a container, in frames (`shared/link/streams/stream-channels.ts`). */
import type { Status } from '../../shared/kube/objects/api-status.js';
import type { AttachStreamRequest, ExecStreamRequest } from '../../shared/link/messages/link-messages.js';
import { StreamError } from '../../shared/link/streams/byte-stream.js';
import { CHANNEL, framesOf, statusFrame } from '../../shared/link/streams/stream-channels.js';
import { attemptsOf } from '../decisions/containers/container-attempts.js';
import type {
  AttachedStreams,
  ExecProcess,
  ObservedContainer,
  RuntimeDriver,
} from '../runtime/runtime-driver.js';
import { RuntimeError } from '../runtime/runtime-driver.js';

type ProcessDriver = Pick<RuntimeDriver, 'inspectPod' | 'exec' | 'attach'>;

const SUCCESS: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

/**
 * Starts the command, or attaches to the container's first process, and returns the output's frames. `input` contains
 * the client's frames. When the client disconnects, a command with a terminal gets SIGHUP. Like the kubelet's, one
 * without keeps running. Throws `StreamError`.
 */
export async function openProcess(
  driver: ProcessDriver,
  request: ExecStreamRequest | AttachStreamRequest,
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { id } = await runningContainer(driver, request.podUid, request.container);
  try {
    if (request.type === 'attach') {
      const attached = await driver.attach(id, { stdin: request.stdin }, signal);
      await assertAttached(driver, request, id).catch((error: unknown) => {
        attached.close();
        throw error;
      });
      feed(attached, input).catch(() => attached.close());
      return outputFrames(attached, request, async () => SUCCESS);
    }
    const { command, stdin, tty } = request;
    const process = await driver.exec(id, { command, stdin, tty }, signal);
    feed(process, input).catch(() => process.close());
    if (tty) signal.addEventListener('abort', () => hangUp(process), { once: true });
    if (tty && signal.aborted) hangUp(process);
    return outputFrames(process, request, async () => exitStatus(await process.exitCode()));
  } catch (error) {
    if (error instanceof RuntimeError && ['NotRunning', 'NotFound'].includes(error.reason)) {
      throw containerNotFound(request.container);
    }
    throw error;
  }
}

/** Throws `StreamError` with the kubelet's message (`pkg/kubelet/kubelet_pods.go` GetExec). */
async function runningContainer(
  driver: ProcessDriver,
  podUid: string,
  name: string,
): Promise<ObservedContainer> {
  const containers = await driver.inspectPod(podUid);
  const running = attemptsOf({ containers }, name).find(({ state }) => state === 'running');
  if (!running) throw containerNotFound(name);
  return running;
}

/**
 * Throws `StreamError` if the container had ended before the engine attached: its streams would stay open, and a client
 * would wait forever. kubectl debug prints the log instead.
 */
async function assertAttached(
  driver: ProcessDriver,
  { podUid, container }: AttachStreamRequest,
  id: string,
): Promise<void> {
  const running = await runningContainer(driver, podUid, container);
  if (running.id !== id) throw containerNotFound(container);
}

function containerNotFound(name: string): StreamError {
  return new StreamError('InternalError', `container not found ("${name}")`);
}

/** Returns the Status that kubectl converts to an exit code (`k8s.io/apimachinery` NonZeroExitCodeReason). */
function exitStatus(code: number): Status {
  if (code === 0) return SUCCESS;
  return {
    ...SUCCESS,
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

async function* outputFrames(
  { output }: AttachedStreams,
  wanted: Pick<ExecStreamRequest, 'stdout' | 'stderr'>,
  outcome: () => Promise<Status>,
): AsyncGenerator<Uint8Array, void> {
  for await (const { from, bytes } of output) {
    if (wanted[from]) yield* framesOf(CHANNEL[from], bytes);
  }
  yield statusFrame(await outcome());
}

/** Forwards the client's input, as fast as the process reads it. */
async function feed(streams: AttachedStreams, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const frame of input) {
    const payload = frame.subarray(1);
    switch (frame[0]) {
      case CHANNEL.stdin:
        await streams.write(payload);
        break;
      case CHANNEL.resize:
        await resize(streams, payload);
        break;
      case CHANNEL.close:
        if (payload[0] === CHANNEL.stdin) streams.endInput();
        break;
    }
  }
  streams.endInput();
}

/** If the resize fails, the terminal keeps its size. */
async function resize(streams: AttachedStreams, json: Uint8Array): Promise<void> {
  const { width, height } = sizeIn(json);
  if (width > 0 && height > 0) await streams.resize({ width, height }).catch(() => undefined);
}

function sizeIn(json: Uint8Array): { width: number; height: number } {
  try {
    const { Width, Height } = JSON.parse(Buffer.from(json).toString()) as Record<string, unknown>;
    return { width: sideOf(Width), height: sideOf(Height) };
  } catch {
    return { width: 0, height: 0 };
  }
}

/** Terminals store their sides in 16 bits. */
function sideOf(value: unknown): number {
  return Number.isInteger(value) && Number(value) <= 0xffff ? Number(value) : 0;
}

function hangUp(process: ExecProcess): void {
  // Without permission for the signal the process keeps running, as documented.
  process.kill('SIGHUP').catch(() => false);
}
