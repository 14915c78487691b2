/** One exchange with one resolver: UDP from a random port, and TCP if the reply was cut off. */
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '../../../shared/process/time/clock.js';
import { isReplyTo, isTruncated } from '../messages/forwarded-message.js';
import { MessageStream } from '../messages/message-stream.js';
import type { Nameserver } from './host-nameservers.js';

interface Exchange {
  server: Nameserver;
  message: Buffer;
  timeoutMs: number;
  clock: Clock;
}

/** Resolves with the reply. Rejects after the timeout, or if the resolver cannot be reached. */
export async function exchange(request: Exchange): Promise<Buffer> {
  const reply = await overUdp(request);
  return isTruncated(reply) ? overTcp(request) : reply;
}

/** A socket of its own for each query: the kernel picks its port at random, which a forger would have to guess. */
function overUdp({ server, message, timeoutMs, clock }: Exchange): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    const timer = clock.after(timeoutMs, () => finish(() => reject(new Error('timeout'))));
    let isFinished = false;
    const finish = (settle: () => void): void => {
      if (isFinished) return;
      isFinished = true;
      timer.cancel();
      socket.close();
      settle();
    };
    socket.on('error', (error) => finish(() => reject(error)));
    // Other messages are ignored: they are late replies to an earlier user of the port, or forged.
    socket.on('message', (reply) => isReplyTo(reply, message) && finish(() => resolve(reply)));
    // A connected socket receives only from the resolver, and reports that no program listens there.
    socket.connect(server.port, server.address, (error?: Error) => {
      if (error) finish(() => reject(error));
      else if (!isFinished) socket.send(message);
    });
  });
}

function overTcp({ server, message, timeoutMs, clock }: Exchange): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port });
    const timer = clock.after(timeoutMs, () => socket.destroy(new Error('timeout')));
    const stream = new MessageStream();
    socket.on('connect', () => socket.end(MessageStream.frame(message)));
    socket.on('data', (bytes) => {
      const reply = stream.push(bytes).find((each) => isReplyTo(each, message));
      if (!reply) return;
      resolve(reply);
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      timer.cancel();
      reject(new Error('closed without a reply'));
    });
  });
}
