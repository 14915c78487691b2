/** The floor as processes: a bare server and one bare client for each agent. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientsOrder } from '../floors/link-clients.js';
import type { FloorAnswer, FloorOrder } from '../floors/link-server.js';
import { ProcessCost } from '../server-cost.js';

type Order = FloorOrder extends infer Each ? (Each extends unknown ? Omit<Each, 'id'> : never) : never;

export class FloorFleet {
  readonly #waiting = new Map<number, { resolve(value: number): void; reject(error: Error): void }>();
  #clients: ChildProcess | undefined;
  #lastId = 0;

  private constructor(
    readonly agents: number,
    readonly cost: ProcessCost,
    readonly server: ChildProcess,
    /** Address of the server, and the CA of its certificate. */
    readonly address: { port: number; ca: string },
  ) {
    server.on('message', (answer: FloorAnswer) => {
      if (!('id' in answer)) return;
      this.#waiting.get(answer.id)?.resolve(answer.value);
      this.#waiting.delete(answer.id);
    });
    server.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the floor server ended'));
    });
  }

  /** Starts the server alone; `connect` adds its clients. */
  static async start(folder: string, agents: number): Promise<FloorFleet> {
    mkdirSync(folder);
    const cost = new ProcessCost(join(folder, 'probe'));
    const env = { ...process.env, ...cost.environment };
    const server = fork(program('link-server'), [folder], { env });
    const [ready] = (await once(server, 'message')) as [Extract<FloorAnswer, { kind: 'ready' }>];
    return new FloorFleet(agents, cost, server, ready);
  }

  /** Resolves when all clients are connected. */
  async connect(): Promise<void> {
    this.#clients = fork(program('link-clients'));
    this.#clients.send({ ...this.address, agents: this.agents } satisfies ClientsOrder);
    await once(this.#clients, 'message');
  }

  /** Closes all connections. Resolves when the server has noticed. */
  async disconnect(): Promise<void> {
    const clients = this.#clients;
    if (!clients) return;
    const ended = once(clients, 'exit');
    clients.disconnect();
    await ended;
  }

  order(order: Order): Promise<number> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.server.send({ ...order, id });
    });
  }

  async stop(): Promise<void> {
    await this.disconnect();
    const ended = once(this.server, 'exit');
    this.server.disconnect();
    await ended;
  }
}

function program(name: string): string {
  return fileURLToPath(new URL(`../floors/${name}.js`, import.meta.url));
}
