/**
 * What a service tells systemd (sd_notify(3)): that it is ready, that it lives, that it ends. Node has no datagram sockets of
 * the kernel's own, so systemd's helper sends it: a process of a few ms, one a minute.
 */
import { spawn } from 'node:child_process';

export interface ServiceManager {
  /** The service works from now on; systemd is told that it lives for as long as the event loop turns. */
  ready(status: string): void;
  /** What `systemctl status` shows. */
  status(text: string): void;
  /** It ends on purpose. */
  stopping(): void;
}

/** Told more often than systemd asks: half of its patience, as sd_watchdog_enabled(3) advises. */
const PATIENCE_PARTS = 2;

/** By the environment that systemd gives; one that says nothing where nobody listens. */
export function serviceManager(environment: Readonly<Record<string, string | undefined>>): ServiceManager {
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = environment;
  const tell = (...states: string[]): void => {
    if (!NOTIFY_SOCKET) return;
    const child = spawn('systemd-notify', states, { stdio: 'ignore', env: { NOTIFY_SOCKET, PATH } });
    // Without the helper systemd gives the start up by its own clock, and says so.
    child.on('error', () => undefined);
    child.unref();
  };
  const patienceMs = Number(WATCHDOG_USEC ?? 0) / 1000;
  let isReady = false;
  return {
    ready: (status) => {
      tell('READY=1', `STATUS=${status}`);
      if (patienceMs > 0 && !isReady)
        setInterval(() => tell('WATCHDOG=1'), patienceMs / PATIENCE_PARTS).unref();
      isReady = true;
    },
    status: (text) => tell(`STATUS=${text}`),
    stopping: () => tell('STOPPING=1'),
  };
}

/** Where distributions keep it. */
const PATH = '/usr/bin:/bin';
