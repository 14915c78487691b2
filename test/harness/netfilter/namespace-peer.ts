/**
 * A server and client in a network namespace, in a process of its own. The test directs it over the channel of `fork`.
 * Each server answers with its name and the client's address.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type PeerRequest = { id: number } & (
  | { kind: 'listen'; port: number; name: string }
  | { kind: 'ask'; protocol: 'tcp' | 'udp'; address: string; port: number; times: number; from?: number }
  | { kind: 'open'; address: string; port: number }
  | { kind: 'talk' }
  | { kind: 'drain'; port: number }
  | { kind: 'fill'; address: string; port: number; bytes: number }
  | { kind: 'connect'; address: string; port: number; times: number }
);

export interface PeerResponse {
  id: number;
  /** One answer per attempt: `NAME CLIENT-ADDRESS`, a duration in ms, or `error CODE`. */
  answers: string[];
}

const TIMEOUT_MS = 3_000;
let opened: Socket | undefined;

async function respond(request: PeerRequest): Promise<string[]> {
  switch (request.kind) {
    case 'listen':
      await listen(request.port, request.name);
      return [];
    case 'ask': {
      const answers: string[] = [];
      for (let attempt = 0; attempt < request.times; attempt += 1) {
        answers.push(request.protocol === 'tcp' ? await askTcp(request) : await askUdp(request));
      }
      return answers;
    }
    case 'open':
      opened = connect(request.port, request.address).on('error', () => undefined);
      return [await firstData(opened)];
    case 'talk':
      if (!opened) throw new Error('no connection is open');
      opened.write('again');
      return [await firstData(opened)];
    case 'drain':
      await drain(request.port);
      return [];
    case 'fill':
      return [String(await fill(request))];
    case 'connect': {
      const answers: string[] = [];
      for (let attempt = 0; attempt < request.times; attempt += 1)
        answers.push(String(await connectOnce(request)));
      return answers;
    }
  }
}

/** Reads everything, and ends the connection after the client. */
async function drain(port: number): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(port, '0.0.0.0', resolve));
}

/** Resolves with the ms until the server has read this many bytes. */
async function fill({
  address,
  port,
  bytes,
}: {
  address: string;
  port: number;
  bytes: number;
}): Promise<number> {
  const chunk = Buffer.alloc(256 * 1024);
  const socket = connect(port, address);
  await once(socket, 'connect');
  const start = performance.now();
  for (let left = bytes; left > 0; left -= chunk.length)
    if (!socket.write(chunk)) await once(socket, 'drain');
  socket.end();
  await once(socket.resume(), 'close');
  return performance.now() - start;
}

/** Resolves with the ms of the handshake. */
async function connectOnce({ address, port }: { address: string; port: number }): Promise<number> {
  const start = performance.now();
  const socket = connect(port, address);
  await once(socket, 'connect');
  const duration = performance.now() - start;
  socket.destroy();
  return duration;
}

async function listen(port: number, name: string): Promise<void> {
  const tcp = createServer((socket) => {
    const text = `${name} ${socket.remoteAddress?.replace('::ffff:', '')}`;
    socket.on('error', () => undefined).on('data', () => socket.write(text));
    socket.write(text);
  });
  const udp = createSocket('udp4');
  udp.on('message', (_, { address, port: source }) => udp.send(`${name} ${address}`, source, address));
  await new Promise<void>((resolve) => tcp.listen(port, '0.0.0.0', resolve));
  await new Promise<void>((resolve) => udp.bind(port, resolve));
}

async function askTcp({ address, port }: { address: string; port: number }): Promise<string> {
  const socket = connect(port, address);
  const answer = await firstData(socket);
  socket.destroy();
  return answer;
}

function firstData(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('error TIMEOUT'), TIMEOUT_MS);
    const end = (answer: string): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    socket.once('data', (bytes) => end(bytes.toString()));
    socket.once('error', (error: NodeJS.ErrnoException) => end(`error ${error.code}`));
  });
}

/** A connected socket receives refusals as errors. */
function askUdp({ address, port, from }: { address: string; port: number; from?: number }): Promise<string> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    const end = (answer: string): void => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => end('error TIMEOUT'), TIMEOUT_MS);
    socket.once('message', (bytes) => end(bytes.toString()));
    socket.once('error', (error: NodeJS.ErrnoException) => end(`error ${error.code}`));
    socket.bind(from ?? 0, () => socket.connect(port, address, () => socket.send('hello', () => undefined)));
  });
}

process.on('message', (request: PeerRequest) => {
  void respond(request).then(
    (answers) => process.send?.({ id: request.id, answers } satisfies PeerResponse),
    (error: Error) => process.send?.({ id: request.id, answers: [`error ${error.message}`] }),
  );
});
process.on('disconnect', () => process.exit(0));
