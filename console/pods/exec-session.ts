/** Runs a command over kubectl's WebSocket protocol (`v5.channel.k8s.io`): frames start with a channel number. */
import type { Status } from '../../shared/kube/objects/api-status.js';

const PROTOCOL = 'v5.channel.k8s.io';
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const;
/** The hub accepts frames of up to 64 KiB. Longer pastes are split. */
const MAX_BYTES = 32_768;

export interface ExecTarget {
  namespace: string;
  pod: string;
  container: string;
  command: readonly string[];
}

interface ExecEvents {
  opened(): void;
  output(bytes: Uint8Array): void;
  /** Called exactly once, with the result of the command or the reason why it is unknown. */
  ended(how: string): void;
}

/** A command with a terminal. Closing the session hangs it up. */
export class ExecSession {
  readonly #socket: WebSocket;
  readonly #events: ExecEvents;
  #outcome: string | undefined;
  #wasOpen = false;

  constructor(target: ExecTarget, events: ExecEvents) {
    this.#events = events;
    this.#socket = new WebSocket(urlOf(target), PROTOCOL);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onopen = () => {
      this.#wasOpen = true;
      events.opened();
    };
    this.#socket.onmessage = ({ data }) => this.#received(new Uint8Array(data as ArrayBuffer));
    this.#socket.onclose = () => events.ended(this.#outcome ?? this.#brokenOff());
  }

  /** Sends typed text. Ignored after the end of the session. */
  write(text: string): void {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += MAX_BYTES) {
      this.#send(CHANNEL.stdin, bytes.subarray(at, at + MAX_BYTES));
    }
  }

  resize(columns: number, rows: number): void {
    this.#send(CHANNEL.resize, new TextEncoder().encode(JSON.stringify({ Width: columns, Height: rows })));
  }

  /** Closes the session without calling `ended`. */
  close(): void {
    this.#socket.onclose = null;
    this.#socket.onmessage = null;
    this.#socket.close();
  }

  #send(channel: number, bytes: Uint8Array): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const frame = new Uint8Array(bytes.length + 1);
    frame[0] = channel;
    frame.set(bytes, 1);
    this.#socket.send(frame);
  }

  #received(frame: Uint8Array): void {
    const [channel] = frame;
    const bytes = frame.subarray(1);
    if (channel === CHANNEL.status) this.#outcome = outcomeOf(new TextDecoder().decode(bytes));
    else if (channel === CHANNEL.stdout || channel === CHANNEL.stderr) this.#events.output(bytes);
  }

  /** The connection closed without a Status, so the host or the network failed. */
  #brokenOff(): string {
    return this.#wasOpen
      ? 'Connection lost: the host or the network failed. The command may still be running.'
      : 'The coordinator could not open a connection.';
  }
}

/** The URL is on the origin of the page, so the session cookie is sent. */
function urlOf({ namespace, pod, container, command }: ExecTarget): string {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', tty: 'true' });
  for (const part of command) query.append('command', part);
  return `wss://${location.host}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`;
}

/** Exit codes of shells and container engines. */
const EXPLAINED: Readonly<Record<string, string>> = {
  126: ' The command was not found, or is not executable.',
  127: ' The command was not found.',
};

/** Formats the Status of a finished command as a sentence. */
function outcomeOf(json: string): string {
  const { status, reason, message, details } = JSON.parse(json) as Status;
  if (status === 'Success') return 'The command exited with code 0.';
  const code = details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message;
  if (reason === 'NonZeroExitCode' && code)
    return `The command exited with code ${code}.${EXPLAINED[code] ?? ''}`;
  return message ?? 'The command failed for an unknown reason.';
}
