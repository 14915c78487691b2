/** Why an endpoint of etcd cannot be used. gRPC reports most of these reasons only as "no connection". */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../../../../shared/process/time/clock.js';
import { type EtcdAccess, hostOf, readTlsFiles } from '../etcd-access.js';

const PROBE_MS = 2_000;

/** Codes of Node and OpenSSL for a certificate of another authority. */
const OTHER_AUTHORITY: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no program listens there',
  EHOSTUNREACH: 'there is no route to this host',
  ENETUNREACH: 'there is no route to its network',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'the name server does not answer',
  ETIMEDOUT: 'no answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not valid yet: compare the machines' clocks",
};

/** An error of a connection, as Node reports it. */
interface ConnectionError {
  readonly code?: string;
  readonly message: string;
  /** The TLS handshake had succeeded. With TLS 1.3 a client certificate is rejected after it. */
  readonly isAfterHandshake?: boolean;
}

/** Returns what is wrong with an endpoint, as the end of a sentence that begins with its address. */
export function describeTrouble(
  { code = '', message, isAfterHandshake }: ConnectionError,
  access: EtcdAccess,
): string {
  const known = SENTENCES[code];
  if (known !== undefined) return known;
  if (access.isSecure) {
    if (OTHER_AUTHORITY.has(code))
      return `its certificate is not from the authority in ${access.caFile} (--etcd-ca)`;
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another address';
    const isRejection = /alert/.test(message) && /certificate|unknown ca|access denied/.test(message);
    if (isRejection || (code === 'ECONNRESET' && isAfterHandshake))
      return `it rejects the client certificate in ${access.certFile} (--etcd-cert)`;
    if (code === 'ECONNRESET' || message.includes('wrong version number'))
      return 'it does not speak TLS: its etcd may listen with http';
  }
  if (code === 'ECONNRESET') return 'it does not answer as etcd: it may need https';
  return message;
}

/** The first bytes of an HTTP/2 client: its preface and an empty SETTINGS frame. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** Type of a SETTINGS frame, the fourth byte of the first answer. */
const SETTINGS = 4;

/** Connects once. Resolves with undefined if the endpoint speaks HTTP/2, over TLS with `https`. */
export function probeEndpoint(
  endpoint: string,
  access: EtcdAccess,
  clock: Clock,
): Promise<ConnectionError | undefined> {
  return new Promise((resolve) => {
    let isAfterHandshake = false;
    const end = (error?: ConnectionError): void => {
      timer.cancel();
      socket.destroy();
      resolve(error);
    };
    const reset = (): void => end({ code: 'ECONNRESET', message: 'closed', isAfterHandshake });
    const timer = clock.after(PROBE_MS, () => end({ code: 'ETIMEDOUT', message: 'no answer' }));
    const socket = openSocket(endpoint, access, () => {
      isAfterHandshake = true;
      socket.write(PREFACE);
    });
    socket.on('data', (data: Buffer) => (data[3] === SETTINGS ? end() : reset()));
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) =>
      end({ code: code ?? '', message, isAfterHandshake }),
    );
    socket.on('close', reset);
  });
}

function openSocket(endpoint: string, access: EtcdAccess, connected: () => void): Socket {
  const target = endpoint.replace(/^https?:\/\//, '');
  const address = { host: hostOf(target), port: Number(target.slice(target.lastIndexOf(':') + 1)) };
  if (!access.isSecure) return connectTcp(address, connected);
  const servername = isIP(address.host) ? '' : address.host;
  const files = readTlsFiles(access);
  return connectTls({ ...address, servername, ...files, ALPNProtocols: ['h2'] }, connected);
}
