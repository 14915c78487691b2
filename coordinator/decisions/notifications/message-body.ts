/** Renders notifications for chat systems. Their formats are those of their incoming webhooks. */
import type { Notification } from './problem.js';

/** `slack` is also understood by Mattermost, Rocket.Chat and Google Chat. */
export const FORMS = ['json', 'slack', 'teams', 'discord'] as const;
export type Form = (typeof FORMS)[number];

/** Discord refuses longer messages. */
const DISCORD_CHARACTERS = 2000;

/** Returns the JSON body of the request. `link`: the page in the console, if its address is known. */
export function messageBody(
  form: Form,
  { topic, title, text }: Notification,
  link: string | undefined,
): object {
  const lines = [text, ...(link === undefined ? [] : [link])].filter(Boolean).join('\n');
  switch (form) {
    case 'json':
      return { topic, title, text, ...(link === undefined ? {} : { link }) };
    case 'slack':
      return { text: `*${escapeSlack(title)}*\n${escapeSlack(lines)}` };
    case 'discord':
      // Texts contain messages of hosts, which must not be able to ping people.
      return {
        content: `**${title}**\n${lines}`.slice(0, DISCORD_CHARACTERS),
        allowed_mentions: { parse: [] },
      };
    case 'teams':
      return teamsCard(title, lines);
  }
}

/** Otherwise a text could contain commands such as `<!channel>`. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A message for a workflow "when a webhook request is received", which replaces the connectors of Office 365. */
function teamsCard(title: string, text: string): object {
  const blocks = [
    { type: 'TextBlock', text: title, weight: 'Bolder', wrap: true },
    ...text.split('\n').map((line) => ({ type: 'TextBlock', text: line, wrap: true, spacing: 'Small' })),
  ];
  const content = { type: 'AdaptiveCard', version: '1.4', body: blocks };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  };
}
