/**
 * A process in its own mount namespace, in the role of an engine or an attacker. Tests create and list mounts there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { run } from '../processes/run-system-command.js';

/** Starts the process as root in the user namespace of the test. */
const AS_ROOT = ['unshare', '--mount'];
/** Like any user of a host: root in a user namespace of its own, where the user may mount anything. */
export const AS_NOBODY = [
  ...['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
  ...['unshare', '--user', '--map-root-user', '--mount'],
];

export class MountedProcess {
  private constructor(readonly pid: number) {}

  /**
   * Starts the process after `script` has created its mounts. Resolves with a reason where this machine allows no
   * mounts.
   */
  static async start(script = ':', [program = '', ...args] = AS_ROOT): Promise<MountedProcess | string> {
    if (process.getuid?.() !== 0) return 'needs root';
    // Mounts are shared, like under systemd.
    const command = `mount --make-rshared / && ${script} && echo ready && exec sleep infinity`;
    const child = spawn(program, [...args, 'setpriv', '--pdeathsig', 'KILL', 'sh', '-ec', command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const trouble: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => trouble.push(text));
    const ready = once(child.stdout, 'data').then(() => true);
    const isReady = await Promise.race([ready, once(child, 'exit').then(() => false)]);
    return isReady && child.pid !== undefined
      ? new MountedProcess(child.pid)
      : `no mounts: ${trouble.join('')}`;
  }

  /** Runs a command among its mounts and returns what it printed. */
  run(...command: string[]): string {
    return run('nsenter', `--mount=/proc/${this.pid}/ns/mnt`, ...command);
  }

  /** Returns its mount points below a folder. */
  mountsBelow(folder: string): string[] {
    const lines = this.run('cat', '/proc/self/mountinfo').split('\n');
    return lines
      .flatMap((line) => line.split(' ')[4] ?? [])
      .filter((point) => point.startsWith(`${folder}/`));
  }

  stop(): void {
    process.kill(this.pid, 'SIGKILL');
  }
}
