/** A process in its own mount namespace, in the place of an engine. Tests make and list mounts there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { run } from './run-command.js';

export class MountedProcess {
  private constructor(readonly pid: number) {}

  /** `script` readies its mounts. A sentence instead where this machine allows none. */
  static async start(script = ':'): Promise<MountedProcess | string> {
    if (process.getuid?.() !== 0) return 'needs root';
    // Shared, as systemd has it on a host.
    const command = `mount --make-rshared / && ${script} && echo ready && exec sleep infinity`;
    const child = spawn('unshare', ['--mount', 'setpriv', '--pdeathsig', 'KILL', 'sh', '-ec', command], {
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

  /** Its mount points below a folder. */
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
