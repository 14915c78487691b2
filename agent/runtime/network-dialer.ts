/**
 * Opens connections from inside a container's network. Node cannot enter a network namespace. So a helper process,
 * started by nsenter of util-linux, connects and passes the sockets back. The parent ends an idle helper: if the helper
 * ended itself, a request could get lost.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import {
  type ChildProgram,
  childArguments,
  isSingleExecutable,
} from '../../shared/process/service/child-program.js';
import { RuntimeError } from './runtime-driver.js';

/** The helper's program. */
export const DIAL_HELPER: ChildProgram = {
  name: 'dial-helper',
  module: new URL('./dial-helper.js', import.meta.url),
};
/** A helper stores no data, so a small heap suffices. */
const SMALL_HEAP_FLAGS = ['--max-old-space-size=16', '--max-semi-space-size=1'];

/** Time until an idle helper is ended. */
const IDLE_MS = 10_000;

/** Where a container can be reached. */
interface NetworkPlace {
  /** Process id, on this host, of a process in the container's network namespace. */
  pid: number;
  /** The container's address on the engine's bridge. An agent that may not enter network namespaces dials it. */
  ip?: string;
}

interface Helper {
  child: ChildProcess;
  /** Ends the helper when it is idle. */
  idle?: NodeJS.Timeout;
  waiting: Map<number, { resolve: (socket: Socket) => void; reject: (error: RuntimeError) => void }>;
}

export class NetworkDialer {
  /** One helper per network namespace, by the kernel's name of the namespace. */
  readonly #helpers = new Map<string, Helper>();
  #lastId = 0;

  /** An idle helper is ended after `idleMs`. */
  constructor(private readonly idleMs = IDLE_MS) {}

  /** Throws `RuntimeError` when the connection fails. */
  async dial(place: NetworkPlace, port: number): Promise<Socket> {
    const network = networkOf(place.pid);
    if (network !== undefined && network === networkOf(process.pid)) return dialDirectly('127.0.0.1', port);
    if (network !== undefined && process.getuid?.() === 0) return this.#dialInside(network, place.pid, port);
    if (place.ip) return dialDirectly(place.ip, port);
    throw failed("the agent needs root to enter the container's network");
  }

  close(): void {
    for (const { child } of this.#helpers.values()) child.kill();
  }

  #dialInside(network: string, pid: number, port: number): Promise<Socket> {
    const helper = this.#helpers.get(network) ?? this.#start(network, pid);
    this.#lastId += 1;
    const id = this.#lastId;
    clearTimeout(helper.idle);
    return new Promise((resolve, reject) => {
      helper.waiting.set(id, { resolve, reject });
      helper.child.send({ id, port }, (error) => {
        if (error) this.#settle(helper, id, failed(error.message));
      });
    });
  }

  /** Removes the helper from the map first, so that no request can reach it while it ends. */
  #end(network: string, helper: Helper): void {
    if (this.#helpers.get(network) === helper) this.#helpers.delete(network);
    helper.child.kill();
  }

  #start(network: string, pid: number): Helper {
    const child = spawn(
      'nsenter',
      [`--net=/proc/${pid}/ns/net`, process.execPath, ...nodeFlags(), ...childArguments(DIAL_HELPER)],
      // No environment: NODE_OPTIONS and similar variables are meant for the agent.
      { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: { PATH: process.env.PATH ?? '' } },
    );
    const helper: Helper = { child, waiting: new Map() };
    this.#helpers.set(network, helper);
    child.on('message', ({ id, error }: { id: number; error?: string }, socket) => {
      this.#settle(helper, id, socket instanceof Socket ? socket : failed(error ?? 'no connection'));
      if (helper.waiting.size > 0) return;
      clearTimeout(helper.idle);
      helper.idle = setTimeout(() => this.#end(network, helper), this.idleMs).unref();
    });
    child.on('error', (error) => this.#exited(network, helper, error.message));
    child.on('exit', () => this.#exited(network, helper, 'the helper process ended'));
    // The agent's exit must not wait for the helper.
    child.unref();
    child.channel?.unref();
    return helper;
  }

  #exited(network: string, helper: Helper, why: string): void {
    if (this.#helpers.get(network) === helper) this.#helpers.delete(network);
    clearTimeout(helper.idle);
    for (const id of [...helper.waiting.keys()]) this.#settle(helper, id, failed(why));
  }

  #settle(helper: Helper, id: number, outcome: Socket | RuntimeError): void {
    const waiting = helper.waiting.get(id);
    helper.waiting.delete(id);
    if (outcome instanceof Socket) {
      if (waiting) waiting.resolve(outcome);
      else outcome.destroy();
    } else {
      waiting?.reject(outcome);
    }
  }
}

function failed(message: string): RuntimeError {
  return new RuntimeError('ConnectFailed', message, true);
}

function networkOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    // The process belongs to another user or host, or has exited.
    return undefined;
  }
}

function dialDirectly(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once('error', (error) => reject(failed(error.message)));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

/** A single executable contains Node's flags already, and would pass these to the program. */
function nodeFlags(): readonly string[] {
  return isSingleExecutable() ? [] : SMALL_HEAP_FLAGS;
}
