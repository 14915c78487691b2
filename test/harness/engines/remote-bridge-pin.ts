/** Directs a `bridge-pin-process`. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { PinRequest, PinResponse } from './bridge-pin-process.js';

const PROGRAM = fileURLToPath(new URL('./bridge-pin-process.js', import.meta.url));

/** The bridge of an engine in another network namespace. */
export class RemoteBridgePin {
  readonly #child: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  /** `namespace`: a name of `ip netns`. */
  constructor(namespace: string) {
    const execArgv = ['netns', 'exec', namespace, process.execPath];
    this.#child = fork(PROGRAM, [], { execPath: 'ip', execArgv });
  }

  /** Not known without waiting, so each container starts alone. */
  isSettled(): boolean {
    return false;
  }

  async pin(podAddresses: readonly string[]): Promise<void> {
    if (podAddresses.length === 0) return;
    const pinned = this.#last.then(() => this.#request({ podAddresses: [...podAddresses] }));
    this.#last = pinned.catch(() => undefined);
    await pinned;
  }

  close(): void {
    this.#child.disconnect();
  }

  async #request(request: PinRequest): Promise<PinResponse> {
    const response = once(this.#child, 'message');
    this.#child.send(request);
    const [answer] = (await response) as [PinResponse];
    return answer;
  }
}
