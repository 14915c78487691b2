/** Seals the host's key with its TPM through systemd-creds, so that a stolen or copied disk reveals no Secret. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

const CREDENTIAL_NAME = 'everynode-host-key';
/** Far longer than the slowest TPM needs. */
const TIMEOUT_MS = 30_000;

/** Seals a key for this machine only. Both methods reject with the command's error. */
export interface KeySealer {
  seal(key: Buffer): Promise<Buffer>;
  unseal(sealed: Buffer): Promise<Buffer>;
}

/** Returns a sealer that runs `systemd-creds`. `withKey`: one of its `--with-key` values. */
export function systemdSealer(withKey: 'tpm2' | 'tpm2-absent', command = 'systemd-creds'): KeySealer {
  const name = `--name=${CREDENTIAL_NAME}`;
  return {
    seal: (key) => run(command, ['encrypt', `--with-key=${withKey}`, name, '-', '-'], key),
    unseal: (sealed) => run(command, ['decrypt', name, '-', '-'], sealed),
  };
}

/** Resolves with the sealer of this machine; undefined without a TPM that the kernel, systemd and this user can use. */
export async function findTpmSealer(
  command = 'systemd-creds',
  devices = '/sys/class/tpmrm',
): Promise<KeySealer | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // Without a device the command is pointless, and running it would take a tenth of the agent's start.
  if (!existsSync(devices) || readdirSync(devices).length === 0) return undefined;
  try {
    await run(command, ['has-tpm2'], Buffer.alloc(0));
  } catch {
    // The command is missing, or there is no complete TPM support.
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
    // The command may exit before it has read its input.
    child.stdin?.on('error', () => child.stdin?.destroy());
    child.stdin?.end(input);
  });
}
