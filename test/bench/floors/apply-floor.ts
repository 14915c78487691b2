/**
 * Floor of "apply": choose the nodes, write a row a Pod durably, send one frame to each agent, read each agent's
 * response.
 */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { unpack } from 'msgpackr';
import type { WebSocket } from 'ws';
import { placementNodes, placementSpecs } from '../internals/placement-fleet.js';
import { PlacementIndex } from './placement-index.js';
import type { SqliteRows } from './sqlite-rows.js';

/** About the size of a desired Pod with one container on the wire. */
const FRAME_BYTES = 2_005;
/** About the size of a Pod in the store. The bytes stay in memory, because every list needs them. */
const POD_BYTES = 2_400;

export class FanOut {
  readonly #rows: SqliteRows;
  readonly #agents: Duplex[] = [];
  readonly #pods: Buffer[] = [];
  #index = new PlacementIndex([]);
  #unanswered = 0;
  #allAnswered: () => void = () => undefined;

  constructor(rows: SqliteRows) {
    this.#rows = rows;
  }

  get size(): number {
    return this.#agents.length;
  }

  add(socket: WebSocket, transport: Duplex): void {
    this.#agents.push(transport);
    socket.on('error', () => socket.terminate());
    socket.on('message', (bytes: Buffer) => this.#answered(unpack(bytes)));
  }

  /** Resolves when each agent has responded. */
  async all(): Promise<void> {
    // The index is kept between rounds, because labels rarely change.
    if (this.#pods.length < this.size) this.#index = new PlacementIndex(placementNodes(this.size));
    for (const spec of placementSpecs(1)) this.#index.count(spec);
    const pod = randomBytes(POD_BYTES / 2).toString('hex');
    const keys = this.#agents.map((_, index) => `/registry/core/pods/default/pod-${index}`);
    this.#rows.write(keys, Buffer.from(pod));
    keys.forEach((_, index) => {
      this.#pods[index] = Buffer.from(pod);
    });
    await this.#send(this.#agents);
  }

  /** The same for one agent. */
  async one(): Promise<void> {
    this.#rows.write(['/registry/core/pods/default/one'], randomBytes(POD_BYTES));
    await this.#send(this.#agents.slice(0, 1));
  }

  #send(agents: readonly Duplex[]): Promise<void> {
    const frame = binaryFrame(Buffer.alloc(FRAME_BYTES, 1));
    this.#unanswered = agents.length;
    return new Promise((resolve) => {
      this.#allAnswered = resolve;
      for (const agent of agents) agent.write(frame);
    });
  }

  #answered(_message: unknown): void {
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#allAnswered();
  }
}

/** A single unfragmented server frame (RFC 6455, 5.2). */
function binaryFrame(payload: Buffer): Buffer {
  const head = Buffer.from([0x82, 126, 0, 0]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
