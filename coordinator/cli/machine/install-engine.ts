/** `--install-engine`: installs Debian's docker.io on a machine without a container engine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import type { Progress } from '../terminal/terminal-progress.js';

const ENGINE_PROGRAMS = ['/usr/bin/dockerd', '/usr/sbin/dockerd', '/usr/bin/podman'];

/** Does nothing if an engine is installed. Throws `ExitError` without root rights, or if the installation fails. */
export async function installEngine(progress: Progress): Promise<void> {
  if (ENGINE_PROGRAMS.some((path) => existsSync(path))) return;
  if (userInfo().uid !== 0) {
    throw new ExitError(
      EXIT_CODES.environment,
      '--install-engine needs root to install the package docker.io.',
    );
  }
  await progress.step("installing Debian's docker.io", async () => {
    aptGet(['update', '-q']);
    aptGet(['install', '-y', '-q', '--no-install-recommends', 'docker.io', 'iptables']);
  });
}

function aptGet(args: readonly string[]): void {
  const done = spawnSync('apt-get', args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (done.status === 0) return;
  const why = done.error ? done.error.message : 'see above';
  throw new ExitError(EXIT_CODES.environment, `apt-get ${args[0]} failed: ${why}.`);
}
