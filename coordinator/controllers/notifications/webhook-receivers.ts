/** Sends notifications to a webhook over HTTP. */
import { messageBody } from '../../decisions/notifications/message-body.js';
import type { NotificationSettings, ReceiverSettings } from './notification-file.js';
import type { Receiver } from './notifier.js';

const TIMEOUT_MS = 10_000;

/** Returns the receivers of the settings. */
export function webhookReceivers({ receivers, console }: NotificationSettings): Receiver[] {
  return receivers.map((settings) => webhookReceiver(settings, console));
}

function webhookReceiver(
  { name, url, form, topics }: ReceiverSettings,
  console: string | undefined,
): Receiver {
  return {
    name,
    topics,
    send: async (notification) => {
      const link = console && new URL(`/console/${notification.page}`, console).href;
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(messageBody(form, notification, link)),
        // The secret in the URL must not go to another server.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((error: Error) => {
        // The message of `fetch` can contain the URL, which is a secret. Its cause is a network error without it.
        const cause = error.cause instanceof Error ? error.cause.message : error.name;
        throw new Error(`${new URL(url).host} does not answer: ${cause}`);
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`${new URL(url).host} answered with ${response.status}`);
    },
  };
}
