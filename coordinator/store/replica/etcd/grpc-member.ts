/** The gRPC channel to one member of etcd. */
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import {
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import type { MethodDefinition } from '@grpc/proto-loader';
import { type EtcdAccess, hostOf, readTlsFiles, type TlsFiles } from './etcd-access.js';

const OPTIONS: ChannelOptions = {
  // grpc-js would use the proxy of the environment, and retry calls by itself.
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // etcd closes connections that ping more often than each 5 s, or without a call (embed.DefaultGRPCKeepAliveMinTime).
  'grpc.keepalive_time_ms': 8_000,
  'grpc.keepalive_timeout_ms': 2_000,
  'grpc.keepalive_permit_without_calls': 0,
  // A page of the log: 64 records of at most 1 MiB, with their keys.
  'grpc.max_receive_message_length': 72 * 2 ** 20,
  'grpc.max_send_message_length': 8 * 2 ** 20,
};

type Method = MethodDefinition<object, object>;
type Answered = (error: unknown, reply: unknown) => void;

export class GrpcMember {
  /** `HOST:PORT`. */
  readonly #target: string;
  readonly #access: EtcdAccess;
  #files: TlsFiles | undefined;
  #client: Client;
  readonly #inFlight = new Set<{ cancel(): void }>();

  constructor(endpoint: string, access: EtcdAccess) {
    this.#target = endpoint.replace(/^https?:\/\//, '');
    this.#access = access;
    this.#files = readTlsFiles(access);
    this.#client = this.#open();
  }

  unary(definition: Method, request: object, answered: Answered): ClientUnaryCall {
    const { path, requestSerialize, responseDeserialize } = definition;
    const call = this.#client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      (error, reply) => {
        this.#inFlight.delete(call);
        answered(error, reply);
      },
    );
    this.#inFlight.add(call);
    return call;
  }

  stream(definition: Method, metadata = new Metadata()): ClientDuplexStream<object, object> {
    const { path, requestSerialize, responseDeserialize } = definition;
    const call = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    this.#inFlight.add(call);
    call.on('status', () => this.#inFlight.delete(call));
    return call;
  }

  /** Connects again if the certificate files have changed: after a renewal the old connection can no longer be made. */
  reread(): void {
    let files: TlsFiles | undefined;
    try {
      files = readTlsFiles(this.#access);
    } catch {
      // A file is being replaced. The next failure reads it again.
      return;
    }
    if (JSON.stringify(files) === JSON.stringify(this.#files)) return;
    this.#files = files;
    this.#client.close();
    this.#client = this.#open();
  }

  close(): void {
    for (const call of this.#inFlight) call.cancel();
    this.#client.close();
  }

  #open(): Client {
    if (!this.#files) return new Client(this.#target, credentials.createInsecure(), OPTIONS);
    const { ca, key, cert } = this.#files;
    const host = hostOf(this.#target);
    const secured = credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert), {
      checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
    });
    // grpc-js would send an IP address as the server name of TLS, and Node prints a deprecation warning for that.
    const name = isIP(host) ? { 'grpc.ssl_target_name_override': 'etcd' } : {};
    return new Client(this.#target, secured, { ...OPTIONS, ...name });
  }
}
