/**
 * Notifications to systemd (sd_notify(3)): ready, watchdog and stopping. Node cannot send on Unix datagram sockets, so
 * the program `systemd-notify` does it: a process of a few milliseconds once a minute.
 */
import { spawn } from 'node:child_process';

export interface ServiceManager {
  /** Reports that the service is ready. From then on the event loop sends watchdog notifications. */
  ready(status: string): void;
  /** Sets the text in `systemctl status`. */
  status(text: string): void;
  /** Reports a deliberate stop. */
  stopping(): void;
}

/** Notifications are sent at half of the watchdog timeout, as sd_watchdog_enabled(3) recommends. */
const NOTIFICATIONS_PER_TIMEOUT = 2;

/** Returns a manager for the environment that systemd set, or one without effect outside of systemd. */
export function serviceManager(environment: Readonly<Record<string, string | undefined>>): ServiceManager {
  const { NOTIFY_SOCKET, WATCHDOG_USEC } = environment;
  const notify = (...states: string[]): void => {
    if (!NOTIFY_SOCKET) return;
    const child = spawn('systemd-notify', states, { stdio: 'ignore', env: { NOTIFY_SOCKET, PATH } });
    // Without `systemd-notify`, systemd fails the start after its own timeout and logs it.
    child.on('error', () => undefined);
    child.unref();
  };
  const watchdogMs = Number(WATCHDOG_USEC ?? 0) / 1000;
  let isReady = false;
  return {
    ready: (status) => {
      notify('READY=1', `STATUS=${status}`);
      if (watchdogMs > 0 && !isReady)
        setInterval(() => notify('WATCHDOG=1'), watchdogMs / NOTIFICATIONS_PER_TIMEOUT).unref();
      isReady = true;
    },
    status: (text) => notify(`STATUS=${text}`),
    stopping: () => notify('STOPPING=1'),
  };
}

/** Usual locations of `systemd-notify`. */
const PATH = '/usr/bin:/bin';
