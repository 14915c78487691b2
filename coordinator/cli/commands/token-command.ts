/**
 * `everynode token create|list|revoke`: manages join tokens. Like kubeadm's tokens, they are Secrets in kube-system.
 */

import type { Command } from 'commander';
import { type JoinAddress, joinCommand } from '../../../shared/kube/access/join-command.js';
import {
  DESCRIPTION_ANNOTATION,
  TOKEN_SECRET_PREFIX,
  TOKEN_SECRET_TYPE,
  tokenSummary,
} from '../../../shared/kube/access/join-token-secret.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { isLabelKey, isLabelValue } from '../../../shared/kube/objects/label-syntax.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import { newJoinToken, tokenSecret } from '../../hub/identity/new-join-token.js';
import { withHost } from '../../server-addresses.js';
import { type ApiClient, connect } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { durationSeconds } from '../terminal/command-options.js';
import { addOutputOption, documentIn, type OutputForm } from '../terminal/output-form.js';

const SECRETS = '/api/v1/namespaces/kube-system/secrets';

interface TokenOptions {
  /** Lifetime in seconds; 0 = unlimited. */
  ttlSeconds: number;
  description: string;
  /** True if several hosts can join with it. */
  reusable?: boolean;
  /** Node names, or patterns with `*`, that hosts may join under. Absent: any name. */
  nodes?: readonly string[];
  /** Labels for the joined Nodes. */
  labels?: Readonly<Record<string, string>>;
  /** True if hosts may set protected labels on their own Node. */
  anyLabels?: boolean;
  /** Host name or address for the join command, instead of the coordinator's own. */
  advertise?: string | undefined;
}

interface CreatedToken {
  id: string;
  /** `ID.SECRET.CAHASH`. */
  text: string;
  /** The command that joins a host. */
  line: string;
}

export function tokenCommand(program: Command): void {
  const token = program.command('token').description('manage join tokens');
  const createCommand = token
    .command('create')
    .description('create a token and print the command that joins a host')
    .option('--ttl <DURATION>', 'lifetime: 30m, 24h, 7d; 0 = unlimited', '24h')
    .option('--reusable', 'allow any number of hosts instead of one')
    .option('--nodes <NAME,...>', 'node names that hosts may use; * matches anything', '')
    .option('--labels <K=V,...>', 'labels for the nodes, protected ones included', '')
    .option('--any-labels', 'let hosts set protected labels themselves')
    .option('--advertise <HOST>', 'host name or address by which hosts reach the coordinator')
    .option('--description <TEXT>', 'shown by token list', '');
  addKubeconfigOptions(createCommand).action(create);
  const listCommand = token.command('list').description('list tokens without their secrets');
  addKubeconfigOptions(addOutputOption(listCommand)).action(list);
  const revokeCommand = token
    .command('revoke')
    .alias('delete')
    .argument('<ID>', 'part of the token before the first dot')
    .description('revoke a join token (joined hosts are not affected)');
  addKubeconfigOptions(revokeCommand).action(remove);
}

export async function createToken(api: ApiClient, options: TokenOptions): Promise<CreatedToken> {
  // Read before the token is created. If the user lacks the right, no token must remain that was never printed.
  const address = await readJoinAddress(api, options.advertise);
  const token = newJoinToken();
  const expiresAtMs = options.ttlSeconds > 0 ? Date.now() + options.ttlSeconds * 1000 : undefined;
  const { nodes = [], labels = {}, anyLabels = false } = options;
  const secret = tokenSecret(token, { expiresAtMs, singleUse: !options.reusable, nodes, labels, anyLabels });
  const annotations = { [DESCRIPTION_ANNOTATION]: options.description };
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

async function create({ ttl, nodes, labels, ...options }: CreateOptions): Promise<void> {
  const token = {
    ...options,
    ttlSeconds: durationSeconds(ttl),
    nodes: nodes.split(',').filter(Boolean),
    labels: labelsFrom(labels),
  };
  printLine((await createToken(connect(options), token)).line);
}

async function list({ output, ...options }: KubeconfigOptions & { output: OutputForm }): Promise<void> {
  const api = connect(options);
  const query = `?fieldSelector=${encodeURIComponent(`type=${TOKEN_SECRET_TYPE}`)}`;
  const { items } = await api.request<{ items: Secret[] }>('GET', SECRETS + query);
  const tokens = items.map(tokenSummary);
  const document = documentIn(output, tokens);
  if (document !== undefined) return printDocument(document);
  const rows = tokens.map(({ id, expires, uses, nodes, description }) => [
    id,
    expires || '<never>',
    uses,
    nodes,
    description || '<none>',
  ]);
  const header = ['ID', 'EXPIRES', 'USES', 'NODES', 'DESCRIPTION'];
  tableLines([header, ...rows]).forEach(printLine);
}

function labelsFrom(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .filter(Boolean)
    .map((item): [string, string] => {
      const at = item.indexOf('=');
      const [key, value] = [item.slice(0, at), item.slice(at + 1)];
      if (at > 0 && isLabelKey(key) && isLabelValue(value)) return [key, value];
      throw new ExitError(
        EXIT_CODES.usage,
        `--labels: must be a list KEY=VALUE,… of valid labels, not "${item}".`,
      );
    });
  return Object.fromEntries(pairs);
}

async function remove(id: string, options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  await api.request('DELETE', `${SECRETS}/${encodeURIComponent(TOKEN_SECRET_PREFIX + id)}`);
  printLine(`token ${id} revoked`);
}

/**
 * Returns the coordinator's address and the keys that hosts pin. `advertise` replaces the host in the address. Throws
 * like `request`.
 */
async function readJoinAddress(api: ApiClient, advertise?: string): Promise<JoinAddress> {
  const address = await api.request<JoinAddress>('GET', `/apis/${FLEET_GROUP}/v1/joinaddress`);
  return advertise ? { ...address, server: withHost(address.server, advertise) } : address;
}

/** Returns the whole join token and the join command. `token` is `ID.SECRET`. */
function joinTexts(address: JoinAddress, token: string): { text: string; line: string } {
  return { text: `${token}.${address.authorityHash}`, line: joinCommand(address, token) };
}
