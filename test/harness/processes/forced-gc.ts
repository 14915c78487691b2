/** Forces garbage collection in a Node process, so that its memory usage shows what it retains. */
import { WebSocket } from 'ws';
import { until } from '../basics/wait-until.js';

/**
 * Address at which a Node process listens for debuggers after SIGUSR1. Only one process of the machine can use it at a
 * time.
 */
const INSPECTOR = 'http://127.0.0.1:9229/json/list';

export class GarbageCollection {
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async of(pid: number): Promise<GarbageCollection> {
    process.kill(pid, 'SIGUSR1');
    let url = '';
    const find = async (): Promise<boolean> => {
      try {
        const [target] = (await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[];
        url = target?.webSocketDebuggerUrl ?? '';
      } catch {
        // The process does not listen yet.
      }
      return url !== '';
    };
    await until(find, { timeoutMs: 10_000, what: 'the inspector' });
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return new GarbageCollection(socket);
  }

  /** Resolves when the collection is done. */
  run(): Promise<void> {
    this.#calls += 1;
    const id = this.#calls;
    const done = new Promise<void>((resolve) => {
      const onMessage = (data: Buffer): void => {
        if ((JSON.parse(data.toString()) as { id?: number }).id !== id) return;
        this.#socket.off('message', onMessage);
        resolve();
      };
      this.#socket.on('message', onMessage);
    });
    this.#socket.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
    return done;
  }

  close(): void {
    this.#socket.close();
  }
}
