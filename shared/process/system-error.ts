/** Errors caused by user input or the state of the machine: reported as a sentence without a stack trace. */

import { EXIT_CODES, ExitError } from './exit-error.js';

/** Explanations by error code. Any other code indicates a bug in the program. */
const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EAI_AGAIN: 'the name cannot be resolved at the moment',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  EDQUOT: 'the disk quota is exceeded',
  EEXIST: 'it already exists',
  EHOSTUNREACH: 'the host is unreachable',
  EISDIR: 'it is a directory',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENETUNREACH: 'the network is unreachable',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of the path is not a directory',
  ENOTEMPTY: 'the directory is not empty',
  ENOTFOUND: 'the host name cannot be resolved',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ETIMEDOUT: 'timed out',
};

/** Descriptions of system calls for users. */
const ACTIONS: Readonly<Record<string, string>> = {
  connect: 'connect to',
  getaddrinfo: 'resolve',
  listen: 'listen on',
  scandir: 'read',
  stat: 'read',
  lstat: 'read',
};

interface SystemError extends Error {
  code: string;
  syscall: string;
  path?: string;
  hostname?: string;
  address?: string;
  port?: number;
}

/** Returns true for an error that is caused by user input or by the state of the machine. */
export function isSystemError(error: unknown): error is SystemError {
  return (
    error instanceof Error && 'syscall' in error && Object.hasOwn(CAUSES, String(Reflect.get(error, 'code')))
  );
}

/** Returns a sentence for a system error, or undefined for any other error. */
export function systemErrorSentence(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined;
  const { syscall, path, hostname, address, port } = error;
  const subject = path ?? hostname ?? (address && port && port > 0 ? `${address}:${port}` : address);
  const action = Object.hasOwn(ACTIONS, syscall) ? ACTIONS[syscall] : syscall;
  return `Cannot ${action}${subject ? ` ${subject}` : ''}: ${CAUSES[error.code]} (${error.code}).`;
}

/** Runs `body` and converts system errors to `ExitError`. Other errors are thrown unchanged. */
export async function withSystemErrorsExplained(body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    const sentence = systemErrorSentence(error);
    throw sentence === undefined ? error : new ExitError(EXIT_CODES.environment, sentence);
  }
}
