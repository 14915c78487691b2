/** EtcdTransport over gRPC: one channel per member. */
import { fileURLToPath } from 'node:url';
import { type ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import type { Clock } from '../../../../shared/process/time/clock.js';
import { ClusterGuard, type ReplyWithHeader } from './cluster-guard.js';
import type { EtcdAccess } from './etcd-access.js';
import { toCallError } from './etcd-error-outcome.js';
import {
  EtcdCallError,
  type EtcdCalls,
  type EtcdRange,
  type EtcdTransport,
  type WatchEvents,
} from './etcd-transport.js';
import { GrpcMember } from './grpc-member.js';

type Method = MethodDefinition<object, object>;

const DEFINITION = loadSync(fileURLToPath(new URL('etcd-rpc.proto', import.meta.url)), {
  longs: String,
  enums: String,
  defaults: true,
});

function method(service: string, name: string): Method {
  const found = (DEFINITION[`etcdserverpb.${service}`] as ServiceDefinition)[name];
  if (!found) throw new Error(`etcd-rpc.proto has no call ${service}.${name}`);
  return found as Method;
}

const METHODS: Readonly<Record<keyof EtcdCalls, Method>> = {
  Range: method('KV', 'Range'),
  Txn: method('KV', 'Txn'),
  Compact: method('KV', 'Compact'),
  LeaseGrant: method('Lease', 'LeaseGrant'),
  LeaseRevoke: method('Lease', 'LeaseRevoke'),
  LeaseKeepAlive: method('Lease', 'LeaseKeepAlive'),
  Status: method('Maintenance', 'Status'),
};
const WATCH = method('Watch', 'Watch');

type WatchReply = ReplyWithHeader & { canceled: boolean };

export class GrpcTransport implements EtcdTransport {
  readonly endpoints: readonly string[];
  readonly #members: readonly GrpcMember[];
  readonly #clock: Clock;
  readonly #guard: ClusterGuard;

  /**
   * Reads the certificate files of `access`. `clusterId`: see `EtcdTransport`; absent = that of the first reply. Throws
   * an error of the file system.
   */
  constructor(access: EtcdAccess, clock: Clock, clusterId?: string) {
    this.endpoints = access.endpoints;
    this.#members = access.endpoints.map((endpoint) => new GrpcMember(endpoint, access));
    this.#clock = clock;
    this.#guard = new ClusterGuard(clusterId);
  }

  get clusterId(): string | undefined {
    return this.#guard.clusterId;
  }

  call<Name extends keyof EtcdCalls>(
    endpoint: number,
    name: Name,
    request: EtcdCalls[Name][0],
    timeoutMs: number,
  ): Promise<EtcdCalls[Name][1]> {
    const member = this.#member(endpoint);
    const definition = METHODS[name];
    return new Promise((resolve, reject) => {
      const answered = (error: unknown, reply: unknown): void => {
        timer.cancel();
        if (error) {
          member.reread();
          reject(toCallError(error));
          return;
        }
        // Status describes the member, so that a member of another cluster can be reported.
        const foreign = this.#guard.refuse(reply as ReplyWithHeader);
        if (foreign && name !== 'Status') reject(foreign);
        else resolve(reply as EtcdCalls[Name][1]);
      };
      const call = definition.requestStream
        ? callOnce(member.stream(definition), request, answered)
        : member.unary(definition, request, answered);
      // A deadline of grpc-js would follow the wall clock, which may be set.
      const timer = this.#clock.after(timeoutMs, () => call.cancel());
    });
  }

  watch(endpoint: number, ranges: readonly EtcdRange[], events: WatchEvents): () => void {
    const member = this.#member(endpoint);
    const metadata = new Metadata();
    // The member ends the stream when it has lost the leader, as with WithRequireLeader of etcd's Go client.
    metadata.set('hasleader', 'true');
    const stream = member.stream(WATCH, metadata);
    let isOver = false;
    const end = (error: EtcdCallError): void => {
      if (isOver) return;
      isOver = true;
      member.reread();
      stream.cancel();
      events.ended(error);
    };
    stream.on('data', (reply: WatchReply) => {
      if (isOver) return;
      const foreign = this.#guard.refuse(reply);
      if (foreign) end(foreign);
      else if (reply.canceled) end(new EtcdCallError('unknown', 'etcd cancelled the watch'));
      else events.changed();
    });
    stream.on('error', (error) => end(toCallError(error)));
    stream.on('end', () => end(new EtcdCallError('unknown', 'etcd ended the watch')));
    for (const range of ranges) stream.write({ createRequest: range });
    return () => {
      isOver = true;
      stream.cancel();
    };
  }

  close(): void {
    for (const member of this.#members) member.close();
  }

  #member(endpoint: number): GrpcMember {
    const member = this.#members[endpoint];
    if (!member) throw new RangeError(`no etcd endpoint ${endpoint}`);
    return member;
  }
}

/** Sends one request on a stream and closes it after the first reply. Returns the stream. */
function callOnce(
  stream: ClientDuplexStream<object, object>,
  request: object,
  answered: (error: unknown, reply: unknown) => void,
): ClientDuplexStream<object, object> {
  let reply: unknown;
  stream.on('data', (data) => {
    reply = data;
    answered(undefined, reply);
  });
  stream.on('error', (error) => {
    if (reply === undefined) answered(error, undefined);
  });
  stream.on('end', () => {
    if (reply === undefined) answered(new Error('etcd ended the stream without a reply'), undefined);
  });
  stream.write(request);
  stream.end();
  return stream;
}
