/** Explains why a container exited, and when it restarts. Pure. */
import type { ContainerStateTerminated, ContainerStatus } from '../../shared/kube/pods/pod-types.js';

/** Exit codes above 128 are 128 plus the signal number (bash(1), EXIT STATUS). */
const SIGNAL_BASE = 128;

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP, its terminal went away',
  2: 'SIGINT, as by Ctrl-C',
  3: 'SIGQUIT',
  4: 'SIGILL, an instruction that this processor does not know: perhaps an image for another one',
  6: 'SIGABRT, the program gave up by itself: an assertion, or its own runtime',
  7: 'SIGBUS, an access to memory that is not there',
  8: 'SIGFPE, such as a division by zero',
  9: 'SIGKILL, it could not say no: out of memory, or it had not ended within its grace period',
  11: 'SIGSEGV, an access to memory that is not its own',
  13: 'SIGPIPE, it wrote to something that nobody reads any more',
  14: 'SIGALRM',
  15: 'SIGTERM, it was asked to end',
  31: 'SIGSYS, a call to the system that its seccomp profile forbids',
};

const CODES: Readonly<Record<number, string>> = {
  0: 'it ended by itself and says that all is well',
  1: 'an error of the program: its log says more',
  2: 'an error of the program, often a wrong argument',
  125: 'the engine could not start it',
  126: 'its command is there, but cannot be run: no right to, or made for another processor',
  127: 'its command is not in the image',
  255: 'an error of the program, or a code outside of 0 to 255',
};

/** Returns text such as `exit code 137: SIGKILL, …`. */
export function explainExit({ exitCode, signal, reason }: ContainerStateTerminated): string {
  if (reason === 'OOMKilled') {
    return `exit code ${exitCode}: the kernel killed it, for it took more memory than its limit`;
  }
  const number = signal || (exitCode > SIGNAL_BASE ? exitCode - SIGNAL_BASE : 0);
  const known = SIGNALS[number] ?? CODES[exitCode];
  return `exit code ${exitCode}: ${known ?? 'a code of the program’s own'}`;
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
