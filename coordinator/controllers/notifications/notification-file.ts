/** Reads the file of `--notification-file`: the receivers of notifications, and the topics that each of them gets. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { FORMS, type Form } from '../../decisions/notifications/message-body.js';
import { TOPICS, type Topic } from '../../decisions/notifications/problem.js';

export interface ReceiverSettings {
  name: string;
  /** Contains the secret of the webhook. */
  url: string;
  form: Form;
  topics: readonly Topic[];
}

export interface NotificationSettings {
  /** The label of a Node with its site. */
  siteLabel: string;
  /** Address of the console for links. Undefined: messages have no links. */
  console: string | undefined;
  receivers: readonly ReceiverSettings[];
}

const DEFAULT_SITE_LABEL = 'topology.kubernetes.io/zone';

/** Throws `ExitError` that names the field, without the content of the file. */
export function readNotificationFile(path: string): NotificationSettings {
  return notificationSettings(parsed(path), path);
}

function parsed(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' || code === 'EACCES' ? `cannot be read (${code})` : 'is not valid YAML';
    throw new ExitError(EXIT_CODES.usage, `--notification-file: ${path} ${why}.`);
  }
}

/** Validates the content of the file. Throws `ExitError`. */
export function notificationSettings(content: unknown, path: string): NotificationSettings {
  const refuse = (field: string, rule: string): never => {
    throw new ExitError(EXIT_CODES.usage, `${path}: ${field} ${rule}.`);
  };
  const { siteLabel, console, receivers, ...unknown } = mapOf(content) ?? refuse('the file', 'must be a map');
  refuseUnknown(unknown, '', refuse);
  if (siteLabel !== undefined && typeof siteLabel !== 'string')
    refuse('siteLabel', 'must be the key of a label');
  if (console !== undefined && !isUrl(console)) refuse('console', 'must be a URL such as https://HOST:PORT');
  if (!Array.isArray(receivers) || receivers.length === 0)
    refuse('receivers', 'must be a list that is not empty');
  const read = (receivers as unknown[]).map((item, index) => receiverOf(item, `receivers[${index}]`, refuse));
  const twice = read.find(({ name }, index) => read.findIndex((other) => other.name === name) < index);
  if (twice) refuse('receivers', `has two receivers with the name ${JSON.stringify(twice.name)}`);
  return {
    siteLabel: (siteLabel as string | undefined) ?? DEFAULT_SITE_LABEL,
    console: console as string | undefined,
    receivers: read,
  };
}

type Refuse = (field: string, rule: string) => never;

function receiverOf(item: unknown, field: string, refuse: Refuse): ReceiverSettings {
  const {
    name,
    url,
    form = 'json',
    topics = TOPICS,
    ...unknown
  } = mapOf(item) ?? refuse(field, 'must be a map');
  refuseUnknown(unknown, `${field}.`, refuse);
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name))
    refuse(`${field}.name`, 'must be a name of letters, digits, dots, dashes and underscores');
  if (!isUrl(url)) refuse(`${field}.url`, 'must be a URL such as https://HOST/PATH, without a user name');
  if (!FORMS.includes(form as Form)) refuse(`${field}.form`, `must be one of ${FORMS.join(', ')}`);
  const isList = Array.isArray(topics) && topics.every((topic) => TOPICS.includes(topic as Topic));
  if (!isList) refuse(`${field}.topics`, `must be a list of ${TOPICS.join(', ')}`);
  return { name, url, form, topics } as ReceiverSettings;
}

function refuseUnknown(fields: object, prefix: string, refuse: Refuse): void {
  const [first] = Object.keys(fields);
  if (first !== undefined) refuse(`${prefix}${first}`, 'is not a known field');
}

function mapOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** A user name or password in a URL is refused by `fetch`, whose error would write them to the log. */
function isUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
