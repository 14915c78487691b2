/** A DNS client, and a resolver of a host whose replies the test decides. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { type Answer, type DecodedPacket, decode, encode, type Packet, type RecordType } from 'dns-packet';
import type { Nameserver } from '../../../agent/dns/forwarding/host-nameservers.js';
import { MessageStream } from '../../../agent/dns/messages/message-stream.js';
import { openUdpAndTcp } from '../basics/test-sockets.js';

const HEADER_BYTES = 12;
/** First length, root, type and class. */
const QUESTION_BYTES = 6;
const RECURSION_DESIRED = 0x0100;
const TRUNCATED = 0x0200;

/** The decoder's types lack the code of the reply. */
export type DnsMessage = DecodedPacket & { rcode: string };

/** Returns an encoded query. `udpSize`: with EDNS(0). */
export function queryMessage(name: string, type: string, udpSize?: number, id = 4711): Buffer {
  const edns = { type: 'OPT', name: '.', udpPayloadSize: udpSize, flags: 0 } as unknown as Answer;
  return encode({
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type: type as RecordType }],
    additionals: udpSize === undefined ? [] : [edns],
  });
}

export function decodeMessage(bytes: Buffer): DnsMessage {
  return decode(bytes) as DnsMessage;
}

const REPLY_TIMEOUT_MS = 10_000;

/** Resolves with the reply over UDP; rejects after 10 s. */
export async function askOverUdp(
  server: Nameserver,
  message: Buffer,
  source = '127.0.0.1',
): Promise<DnsMessage> {
  const socket = createSocket('udp4').bind(0, source);
  try {
    await once(socket, 'listening');
    socket.send(message, server.port, server.address);
    const signal = AbortSignal.timeout(REPLY_TIMEOUT_MS);
    const [reply] = (await once(socket, 'message', { signal })) as [Buffer];
    return decodeMessage(reply);
  } finally {
    socket.close();
  }
}

/** Resolves with the replies to all messages over one TCP connection, in the order of their arrival. */
export async function askOverTcp(
  { address, port }: Nameserver,
  ...messages: Buffer[]
): Promise<DnsMessage[]> {
  const socket = connect(port, address);
  const replies: DnsMessage[] = [];
  const stream = new MessageStream();
  try {
    await once(socket, 'connect');
    for (const message of messages) socket.write(MessageStream.frame(message));
    while (replies.length < messages.length) {
      const [bytes] = (await once(socket, 'data', { signal: AbortSignal.timeout(REPLY_TIMEOUT_MS) })) as [
        Buffer,
      ];
      replies.push(...stream.push(bytes).map(decodeMessage));
    }
    return replies;
  } finally {
    socket.destroy();
  }
}

/** A reply, or `silent`. `tcp`: only over TCP; over UDP it is cut off. */
export interface ScriptedReply {
  rcode?: number;
  answers?: Answer[];
  authorities?: Answer[];
  isSilent?: boolean;
  isTcpOnly?: boolean;
}

/** A resolver on an address of this machine. */
export class ScriptedResolver {
  /** `udp NAME TYPE`, in order. */
  readonly asked: string[] = [];
  reply: (name: string, type: string) => ScriptedReply = () => ({ rcode: 3 });
  readonly #udp: DatagramSocket;
  readonly #tcp: Server;

  private constructor(udp: DatagramSocket, tcp: Server) {
    this.#udp = udp;
    this.#tcp = tcp;
    udp.on('message', (message, from) => {
      const bytes = this.#answer(message, 'udp');
      if (bytes) udp.send(bytes, from.port, from.address);
    });
    tcp.on('connection', (socket) => {
      const stream = new MessageStream();
      socket.on('error', () => socket.destroy());
      socket.on('data', (bytes) => {
        for (const message of stream.push(bytes)) {
          const reply = this.#answer(message, 'tcp');
          if (reply) socket.end(MessageStream.frame(reply));
        }
      });
    });
  }

  static async start(address = '127.0.0.1'): Promise<ScriptedResolver> {
    const { udp, tcp } = await openUdpAndTcp(address);
    return new ScriptedResolver(udp, tcp);
  }

  get nameserver(): Nameserver {
    return this.#udp.address();
  }

  stop(): void {
    this.#udp.close();
    this.#tcp.close();
  }

  #answer(message: Buffer, transport: 'udp' | 'tcp'): Buffer | undefined {
    const query = decode(message);
    const [question] = query.questions ?? [];
    if (!question) return undefined;
    this.asked.push(`${transport} ${question.name} ${question.type}`);
    const {
      rcode = 0,
      answers = [],
      authorities = [],
      isSilent,
      isTcpOnly,
    } = this.reply(question.name, question.type);
    if (isSilent) return undefined;
    const isCut = isTcpOnly && transport === 'udp';
    const packet: Packet = {
      type: 'response',
      id: query.id ?? 0,
      flags: RECURSION_DESIRED | rcode | (isCut ? TRUNCATED : 0),
      questions: [question],
      answers: isCut ? [] : answers,
      authorities,
      additionals: [],
    };
    const reply = encode(packet);
    // A resolver repeats the question as it was encoded. The decoded name does not tell a dot in a label from its end.
    message.copy(reply, HEADER_BYTES, HEADER_BYTES, HEADER_BYTES + question.name.length + QUESTION_BYTES);
    return reply;
  }
}
