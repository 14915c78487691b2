/** Explains why a container exited, and when it restarts. Pure. */
import type { ContainerStateTerminated, ContainerStatus } from '../../shared/kube/pods/pod-types.js';

/** Exit codes above 128 are 128 plus the signal number (bash(1), EXIT STATUS). */
const SIGNAL_BASE = 128;

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP, its terminal was closed',
  2: 'SIGINT, like Ctrl-C',
  3: 'SIGQUIT',
  4: 'SIGILL, an instruction that the processor does not support: check the image’s architecture',
  6: 'SIGABRT, the program aborted itself: an assertion or its runtime',
  7: 'SIGBUS, access to memory that does not exist',
  8: 'SIGFPE, such as a division by zero',
  9: 'SIGKILL, killed: out of memory, or not terminated within its grace period',
  11: 'SIGSEGV, invalid memory access',
  13: 'SIGPIPE, it wrote to a closed pipe or connection',
  14: 'SIGALRM',
  15: 'SIGTERM, it was asked to terminate',
  31: 'SIGSYS, a system call that its seccomp profile forbids',
};

const CODES: Readonly<Record<number, string>> = {
  0: 'it completed successfully',
  1: 'an error of the program: see its log',
  2: 'an error of the program, often a wrong argument',
  125: 'the container engine could not start it',
  126: 'its command is not executable, or was built for another architecture',
  127: 'its command is not in the image',
  255: 'an error of the program, or an exit code outside of 0 to 255',
};

/** Returns text such as `exit code 137: SIGKILL, …`. */
export function explainExit({ exitCode, signal, reason }: ContainerStateTerminated): string {
  if (reason === 'OOMKilled') {
    return `exit code ${exitCode}: killed by the kernel, because it exceeded its memory limit`;
  }
  const number = signal || (exitCode > SIGNAL_BASE ? exitCode - SIGNAL_BASE : 0);
  const known = SIGNALS[number] ?? CODES[exitCode];
  return `exit code ${exitCode}: ${known ?? 'specific to the program'}`;
}

/** Units of Go durations in milliseconds. */
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** Returns the time of the next restart during a back-off, otherwise undefined. */
export function nextRestartTime({ state, lastState }: ContainerStatus): string | undefined {
  const [, delay] = /^back-off (\S+) restarting/.exec(state?.waiting?.message ?? '') ?? [];
  const ended = lastState?.terminated?.finishedAt;
  if (!delay || !ended) return undefined;
  const parts = [...delay.matchAll(/(\d+)([hms])/g)];
  const delayMs = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  return new Date(Date.parse(ended) + delayMs).toISOString();
}
