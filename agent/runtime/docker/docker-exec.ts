/** Exec and attach over the Docker Engine API. The API has no call to end an exec process. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttachedStreams,
  type AttachRequest,
  type ExecProcess,
  type ExecRequest,
  RuntimeError,
  type TerminalSize,
} from '../runtime-driver.js';
import type { DockerApi, ErrorReasons } from './docker-api.js';
import { HijackedStreams } from './hijacked-streams.js';

const ERROR_REASONS: ErrorReasons = { 404: 'NotFound', 409: 'NotRunning', fallback: 'EngineDown' };
/** The engine updates a process's state independently of its output. Poll after 5 ms, doubling to half a second. */
const FIRST_POLL_MS = 5;
const LAST_POLL_MS = 500;
/** Timeout for a started process to appear, before resizing or killing it fails. */
const START_MS = 5_000;

/** Response of `GET /exec/ID/json`, as far as the agent reads it. */
interface ExecResponse {
  Running: boolean;
  ExitCode: number | null;
  /** Process id on the engine's host. 0 before the start. */
  Pid: number;
}

/** Starts a process in the container `id`. Throws `RuntimeError`. */
export async function dockerExec(
  api: DockerApi,
  id: string,
  { command, stdin, tty }: ExecRequest,
  signal: AbortSignal,
): Promise<ExecProcess> {
  const body = { Cmd: command, AttachStdin: stdin, AttachStdout: true, AttachStderr: true, Tty: tty };
  const call = { method: 'POST', path: `/containers/${id}/exec`, body, signal } as const;
  const { Id } = await api.json<{ Id: string }>(call, ERROR_REASONS);
  const path = `/exec/${Id}`;
  const socket = await api.hijack(
    { method: 'POST', path: `${path}/start`, body: { Detach: false, Tty: tty }, signal },
    ERROR_REASONS,
  );
  const streams = new HijackedStreams({
    socket,
    bytes: api.bytesOf(socket),
    tty,
    stdin,
    signal,
    resize: (size) => resize(api, path, size),
  });
  return new DockerProcess(api, path, id, streams, signal);
}

/** Attaches to the container's first process. Throws `RuntimeError`. */
export async function dockerAttach(
  api: DockerApi,
  id: string,
  { stdin }: AttachRequest,
  tty: boolean,
  signal: AbortSignal,
): Promise<AttachedStreams> {
  const path = `/containers/${id}`;
  const query = { stream: '1', stdout: '1', stderr: '1', ...(stdin ? { stdin: '1' } : {}) };
  const socket = await api.hijack({ method: 'POST', path: `${path}/attach`, query, signal }, ERROR_REASONS);
  const bytes = api.bytesOf(socket);
  return new HijackedStreams({
    socket,
    bytes,
    tty,
    stdin,
    signal,
    resize: (size) => resize(api, path, size),
  });
}

function resize(api: DockerApi, path: string, { width, height }: TerminalSize): Promise<unknown> {
  const query = { w: String(width), h: String(height) };
  return api.json({ method: 'POST', path: `${path}/resize`, query }, ERROR_REASONS);
}

class DockerProcess implements ExecProcess {
  readonly output: AttachedStreams['output'];

  constructor(
    private readonly api: DockerApi,
    private readonly path: string,
    private readonly container: string,
    private readonly streams: AttachedStreams,
    private readonly signal: AbortSignal,
  ) {
    this.output = streams.output;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.streams.write(bytes);
  }

  endInput(): void {
    this.streams.endInput();
  }

  /** Clients may send the size before the process exists. The engine rejects it until then, so retry. */
  async resize(size: TerminalSize): Promise<void> {
    const deadline = AbortSignal.any([this.signal, AbortSignal.timeout(START_MS)]);
    let failure: unknown;
    for await (const { Pid } of this.#poll(deadline)) {
      failure = await this.streams.resize(size).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined || Pid !== 0) break;
    }
    if (failure !== undefined) throw failure;
  }

  close(): void {
    this.streams.close();
  }

  async exitCode(): Promise<number> {
    for await (const { Running, ExitCode } of this.#poll(this.signal)) {
      if (!Running && ExitCode !== null) return ExitCode;
    }
    throw new RuntimeError('EngineDown', 'the connection to the process was closed before it exited', true);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<boolean> {
    for await (const { Running, Pid } of this.#poll(AbortSignal.timeout(START_MS))) {
      if (!Running) return true;
      // The engine opens the streams before the process exists.
      if (Pid !== 0) return isInContainer(Pid, this.container) && sendSignal(Pid, signal);
    }
    return false;
  }

  /** Polls the process's state until `signal` aborts. */
  async *#poll(signal: AbortSignal): AsyncGenerator<ExecResponse, void> {
    for (let delayMs = FIRST_POLL_MS; ; delayMs = Math.min(delayMs * 2, LAST_POLL_MS)) {
      yield await this.#inspect();
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  #inspect(): Promise<ExecResponse> {
    return this.api.json<ExecResponse>({ method: 'GET', path: `${this.path}/json` }, ERROR_REASONS);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Returns false if the process id belongs to another process, as when the engine runs on another host. */
function isInContainer(pid: number, container: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(container);
  } catch {
    return false;
  }
}
