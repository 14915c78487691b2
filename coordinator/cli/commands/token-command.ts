/** `everynode token create|list|revoke`: join tokens, kept as kubeadm keeps them: Secrets in kube-system. */

import type { Command } from 'commander';
import {
  DESCRIPTION_ANNOTATION,
  TOKEN_SECRET_PREFIX,
  TOKEN_SECRET_TYPE,
  tokenSummary,
} from '../../../shared/kube/access/join-token-secret.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { isLabelKey, isLabelValue } from '../../../shared/kube/objects/label-syntax.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { newJoinToken, tokenSecret } from '../../hub/identity/new-join-token.js';
import { type ApiClient, connect } from '../client/api-client.js';
import { joinTexts, readJoinAddress } from '../client/join-lines.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { durationSeconds } from '../terminal/duration-option.js';

const SECRETS = '/api/v1/namespaces/kube-system/secrets';
/** Of the columns but the last. */
const WIDTHS = [9, 23, 6, 20];

interface TokenOptions {
  /** Seconds until it joins nobody any more; 0 = never ends. */
  ttlSeconds: number;
  description: string;
  /** True for a token that joins more than one host. */
  reusable?: boolean;
  /** Names, or patterns with `*`, that hosts may join under; any when absent. */
  nodes?: readonly string[];
  /** Labels that the hosts' Nodes get. */
  labels?: Readonly<Record<string, string>>;
  /** True when hosts may give themselves protected labels. */
  anyLabels?: boolean;
  /** Host name or address for the join line, instead of the coordinator's own. */
  advertise?: string | undefined;
}

interface CreatedToken {
  id: string;
  /** `ID.SECRET.CAHASH`. */
  text: string;
  /** The line to type on a host. */
  line: string;
}

/** Adds the command. */
export function tokenCommand(program: Command): void {
  const token = program.command('token').description('tokens with which hosts join');
  const createCommand = token
    .command('create')
    .description('make a token and print the line that a host types to join')
    .option('--ttl <DURATION>', 'how long it joins hosts: 30m, 24h, 7d; 0 = for ever', '24h')
    .option('--reusable', 'let it join any number of hosts, not one')
    .option('--nodes <NAME,...>', 'names that hosts may join under; * stands for anything', '')
    .option('--labels <K=V,...>', 'labels that the nodes get, protected ones too', '')
    .option('--any-labels', 'let hosts give themselves protected labels')
    .option('--advertise <HOST>', 'host name or address by which hosts reach the coordinator')
    .option('--description <TEXT>', 'shown by token list', '');
  addKubeconfigOptions(createCommand).action(create);
  const listCommand = token.command('list').description('list the tokens, without their secrets');
  addKubeconfigOptions(listCommand).action(list);
  const revokeCommand = token
    .command('revoke')
    .alias('delete')
    .argument('<ID>', 'the part of the token before its first dot')
    .description('let a token join nobody any more; hosts that have joined stay');
  addKubeconfigOptions(revokeCommand).action(remove);
}

/** Makes a token through the API. */
export async function createToken(api: ApiClient, wish: TokenOptions): Promise<CreatedToken> {
  // Read it first: if the user may not, no token must be left that was never printed.
  const address = await readJoinAddress(api, wish.advertise);
  const token = newJoinToken();
  const expiresAtMs = wish.ttlSeconds > 0 ? Date.now() + wish.ttlSeconds * 1000 : undefined;
  const { nodes = [], labels = {}, anyLabels = false } = wish;
  const secret = tokenSecret(token, { expiresAtMs, singleUse: !wish.reusable, nodes, labels, anyLabels });
  const annotations = { [DESCRIPTION_ANNOTATION]: wish.description };
  await api.request('POST', SECRETS, { ...secret, metadata: { ...secret.metadata, annotations } });
  return { id: token.id, ...joinTexts(address, `${token.id}.${token.secret}`) };
}

interface CreateOptions extends KubeconfigOptions {
  ttl: string;
  description: string;
  nodes: string;
  labels: string;
  reusable?: boolean;
  anyLabels?: boolean;
  advertise?: string;
}

async function create(options: CreateOptions): Promise<void> {
  const ttlSeconds = durationSeconds(options.ttl);
  const api = connect(options);
  const { description, reusable = false, anyLabels = false, advertise } = options;
  const nodes = options.nodes.split(',').filter(Boolean);
  const labels = labelsFrom(options.labels);
  const wish = { ttlSeconds, description, reusable, anyLabels, nodes, labels, advertise };
  printLine((await createToken(api, wish)).line);
}

async function list(options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  const query = `?fieldSelector=${encodeURIComponent(`type=${TOKEN_SECRET_TYPE}`)}`;
  const { items } = await api.request<{ items: Secret[] }>('GET', SECRETS + query);
  const rows = items
    .map(tokenSummary)
    .map(({ id, expires, uses, nodes, description }) => [
      id,
      expires || '<never>',
      uses,
      nodes,
      description || '<none>',
    ]);
  const header = ['ID', 'EXPIRES', 'USES', 'NODES', 'DESCRIPTION'];
  for (const row of [header, ...rows]) {
    const cells = row.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0));
    printLine(cells.join('').trimEnd());
  }
}

function labelsFrom(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .filter(Boolean)
    .map((item): [string, string] => {
      const at = item.indexOf('=');
      const [key, value] = [item.slice(0, at), item.slice(at + 1)];
      if (at > 0 && isLabelKey(key) && isLabelValue(value)) return [key, value];
      throw new ExitError(EXIT_CODES.usage, `--labels: must be KEY=VALUE,… of labels, not "${item}".`);
    });
  return Object.fromEntries(pairs);
}

async function remove(id: string, options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  await api.request('DELETE', `${SECRETS}/${encodeURIComponent(TOKEN_SECRET_PREFIX + id)}`);
  printLine(`token ${id} revoked`);
}
