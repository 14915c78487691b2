/** Binds the host's key to its TPM, by systemd-creds: the disk alone, stolen or copied, then opens no Secret. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

const CREDENTIAL_NAME = 'everynode-host-key';
/** A TPM is slow, and never so slow. */
const TIMEOUT_MS = 30_000;

/** Turns a key into bytes that only this machine can turn back. Both reject with what the command says. */
export interface KeySealer {
  seal(key: Buffer): Promise<Buffer>;
  unseal(sealed: Buffer): Promise<Buffer>;
}

/** A sealer by `systemd-creds`. `withKey`: one of its `--with-key` values. */
export function systemdSealer(withKey: 'tpm2' | 'tpm2-absent', command = 'systemd-creds'): KeySealer {
  const name = `--name=${CREDENTIAL_NAME}`;
  return {
    seal: (key) => run(command, ['encrypt', `--with-key=${withKey}`, name, '-', '-'], key),
    unseal: (sealed) => run(command, ['decrypt', name, '-', '-'], sealed),
  };
}

/** The sealer of this machine; undefined where there is no TPM that its kernel and systemd can use, or no right to it. */
export async function findTpmSealer(
  command = 'systemd-creds',
  devices = '/sys/class/tpmrm',
): Promise<KeySealer | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // Without a device the answer is known, and asking costs a tenth of the agent's start.
  if (!existsSync(devices) || readdirSync(devices).length === 0) return undefined;
  try {
    await run(command, ['has-tpm2'], Buffer.alloc(0));
  } catch {
    // No such command, or some part is missing: both mean that there is none.
    return undefined;
  }
  return systemdSealer('tpm2', command);
}

function run(command: string, args: string[], input: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { encoding: 'buffer', timeout: TIMEOUT_MS } as const;
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${args[0]}: ${stderr.toString().trim() || error.message}`));
      else resolve(stdout);
    });
    // It may end before it has read its input.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.stdin?.end(input);
  });
}
