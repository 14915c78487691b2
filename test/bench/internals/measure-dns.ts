/** The cluster DNS of an agent: time of an answer, and CPU time at 1,000 queries a second. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { fileURLToPath } from 'node:url';
import { SMALL_HEAP_FLAGS } from '../../../shared/process/service/child-program.js';
import { freeUdpAndTcpPort } from '../../harness/basics/test-sockets.js';
import { pause, until } from '../../harness/basics/wait-until.js';
import { queryMessage } from '../../harness/dns/dns-client.js';
import { percentile } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';
import { cpuMeter } from '../process-memory.js';

const DNS_PROGRAM = fileURLToPath(new URL('../../harness/dns/dns-process.js', import.meta.url));
const BARE_PROGRAM = fileURLToPath(new URL('../floors/bare-udp.js', import.meta.url));
const ZONE = 'default.svc.cluster.local';
/** What a Pod's resolver asks: both address families, and names of Services with few and with many endpoints. */
const QUESTIONS = [
  [`web.${ZONE}`, 'A'],
  [`web.${ZONE}`, 'AAAA'],
  [`logs.${ZONE}`, 'A'],
  [`many.${ZONE}`, 'A'],
  [`www.example.com.${ZONE}`, 'A'],
] as const;
const WARM_UP = 500;
const PER_SECOND = 1_000;
const TICK_MS = 10;
/** As long as a resolver waits. */
const LOST_MS = 5_000;

export async function measureDns({ quick, report, progress }: BenchContext): Promise<void> {
  progress('cluster DNS');
  const result = { section: 'parts' } as const;
  const seconds = quick ? 3 : 10;
  await withServer(DNS_PROGRAM, [''], async (client, server) => {
    const times: number[] = [];
    for (let count = 0; count < (quick ? 1_000 : 5_000); count++) times.push(await client.ask(count));
    for (const [name, share, most] of [
      ['p50', 0.5, 1],
      ['p99', 0.99, 5],
    ] as const)
      report({
        ...{ ...result, name: `cluster DNS: query → answer, ${name}`, unit: 'ms', floor: [] },
        product: [percentile(times, share)],
        goal: { kind: 'product', most },
      });
    const product = [await percentOfCore(server, client, seconds)];
    const floor = await withServer(BARE_PROGRAM, [], async (bareClient, bare) => [
      await percentOfCore(bare, bareClient, seconds),
    ]);
    report({
      ...{ ...result, name: `cluster DNS: CPU at ${PER_SECOND} queries a second`, unit: '% of a core' },
      ...{ product, floor },
      goal: { kind: 'product', most: 10 },
    });
  });
}

/** Runs a server with the Node flags of an agent, and warms it up. `args` come before its address. */
async function withServer<T>(
  program: string,
  args: string[],
  use: (client: TimedClient, server: ChildProcess) => Promise<T>,
): Promise<T> {
  const port = await freeUdpAndTcpPort();
  const command = [...SMALL_HEAP_FLAGS, program, ...args, `127.0.0.1:${port}`];
  const server = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'ignore'] });
  const client = new TimedClient(createSocket('udp4'), port);
  try {
    let output = '';
    server.stdout?.on('data', (bytes: Buffer) => {
      output += String(bytes);
    });
    await until(() => output.includes('serving'), { what: 'the server' });
    for (let count = 0; count < WARM_UP; count++) await client.ask(count);
    return await use(client, server);
  } finally {
    client.close();
    server.kill();
  }
}

/** Sends a hundredth of the queries every ten milliseconds. */
async function percentOfCore(server: ChildProcess, client: TimedClient, seconds: number): Promise<number> {
  const read = cpuMeter(server.pid ?? 0);
  const begun = performance.now();
  const ticks = (seconds * 1_000) / TICK_MS;
  const answers: Promise<number>[] = [];
  for (let tick = 0; tick < ticks; tick++) {
    for (let count = 0; count < (PER_SECOND * TICK_MS) / 1_000; count++) answers.push(client.ask(count));
    await pause(Math.max(begun + (tick + 1) * TICK_MS - performance.now(), 0));
  }
  await Promise.all(answers);
  return (read() / (performance.now() - begun)) * 100;
}

class TimedClient {
  readonly #socket: Socket;
  readonly #port: number;
  readonly #waiting = new Map<number, () => void>();
  #nextId = 0;

  constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on('message', (reply: Buffer) => this.#waiting.get(reply.readUInt16BE(0))?.());
  }

  /** Resolves with the milliseconds until the answer. `count` selects the question. */
  async ask(count: number): Promise<number> {
    const [name, type] = QUESTIONS[count % QUESTIONS.length] ?? QUESTIONS[0];
    const id = this.#nextId++ % 0x1_0000;
    const message = queryMessage(name, type, 1232, id);
    const begun = performance.now();
    await new Promise<void>((resolve) => {
      // A busy machine may lose datagrams.
      const timer = setTimeout(resolve, LOST_MS);
      this.#waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
      this.#socket.send(message, this.#port, '127.0.0.1');
    });
    this.#waiting.delete(id);
    return performance.now() - begun;
  }

  close(): void {
    this.#socket.close();
  }
}
