/** The bodies that chat systems get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageBody } from '../../../coordinator/decisions/notifications/message-body.js';
import type { Notification } from '../../../coordinator/decisions/notifications/problem.js';

const NOTIFICATION: Notification = {
  topic: 'RolloutFailed',
  title: 'Rollout of shop/till failed',
  text: 'exit 1: <!channel> & @everyone',
  page: 'rollouts/shop/till',
};
const LINK = 'https://c:6443/console/rollouts/shop/till';

test('json has all fields as they are', () => {
  const { topic, title, text } = NOTIFICATION;
  assert.deepEqual(messageBody('json', NOTIFICATION, LINK), { topic, title, text, link: LINK });
  assert.deepEqual(messageBody('json', NOTIFICATION, undefined), { topic, title, text });
});

test('slack gets a bold title, and a text of a host cannot call a channel', () => {
  assert.deepEqual(messageBody('slack', NOTIFICATION, LINK), {
    text: `*Rollout of shop/till failed*\nexit 1: &lt;!channel&gt; &amp; @everyone\n${LINK}`,
  });
});

test('discord pings nobody and gets at most 2,000 characters', () => {
  const body = messageBody('discord', { ...NOTIFICATION, text: 'x'.repeat(3000) }, LINK) as {
    content: string;
    allowed_mentions: object;
  };
  assert.equal(body.content.length, 2000);
  assert.deepEqual(body.allowed_mentions, { parse: [] });
});

test('teams gets an adaptive card with a block for each line', () => {
  const { attachments } = messageBody('teams', { ...NOTIFICATION, text: 'a\nb' }, undefined) as {
    attachments: { contentType: string; content: { type: string; body: { text: string }[] } }[];
  };
  const [card] = attachments;
  assert.equal(card?.contentType, 'application/vnd.microsoft.card.adaptive');
  assert.deepEqual(
    card?.content.body.map(({ text }) => text),
    [NOTIFICATION.title, 'a', 'b'],
  );
});
