/** Runs the `ip` command. */
import { execFile } from 'node:child_process';

const PROGRAM_PATH = '/usr/sbin:/sbin:/usr/bin:/bin';
const TIMEOUT_MS = 10_000;

/** Rejects with the reason. */
export function runIp(...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('ip', args, { env: { PATH: PROGRAM_PATH }, timeout: TIMEOUT_MS }, (error, _, stderr) => {
      if (!error) resolve();
      else if (error.code === 'ENOENT') reject(new Error('the program ip (package iproute2) is missing'));
      else reject(new Error(stderr.trim() || error.message));
    });
  });
}
