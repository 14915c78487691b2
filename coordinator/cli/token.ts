/** `everynode token create|list|delete`: join tokens, kept as kubeadm keeps them: Secrets in kube-system. */
import { X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import type { Secret } from '../../shared/kube/config.js';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { kubeconfigPath } from '../data-dir.js';
import { newJoinToken, TOKEN_SECRET_PREFIX, TOKEN_SECRET_TYPE, tokenSecret } from '../hub/join-token.js';
import { defaultDataDir } from '../settings.js';
import { type ApiClient, apiClientFromKubeconfig } from './api-client.js';
import { reachableServer } from './reachable-server.js';

const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const DESCRIPTION_ANNOTATION = 'everynode.dev/description';
const ID_WIDTH = 9;
const EXPIRES_WIDTH = 23;

export interface TokenWish {
  /** Seconds until it joins nobody any more; 0 = never ends. */
  ttlSeconds: number;
  description: string;
}

export interface CreatedToken {
  id: string;
  /** `ID.SECRET.CAHASH`. */
  text: string;
}

/** Adds the command. */
export function tokenCommand(program: Command): void {
  const token = program.command('token').description('tokens with which hosts join');
  const data = ['--data <DIR>', "the coordinator's data directory", defaultDataDir()] as const;
  token
    .command('create')
    .description('make a token and print the line that a host types to join')
    .option(...data)
    .option('--ttl <DURATION>', 'how long it joins hosts: 30m, 24h, 7d; 0 = for ever', '24h')
    .option('--advertise <HOST>', 'host name or address by which hosts reach the coordinator')
    .option('--description <TEXT>', 'shown by token list', '')
    .action(create);
  token
    .command('list')
    .description('list the tokens, without their secrets')
    .option(...data)
    .action(list);
  token
    .command('delete')
    .argument('<ID>', 'the part of the token before its first dot')
    .description('delete a token; hosts that have joined stay')
    .option(...data)
    .action(remove);
}

/** Makes a token through the API. */
export async function createToken(api: ApiClient, wish: TokenWish): Promise<CreatedToken> {
  const token = newJoinToken();
  const expiresAtMs = wish.ttlSeconds > 0 ? Date.now() + wish.ttlSeconds * 1000 : undefined;
  const secret = tokenSecret(token, expiresAtMs);
  const annotations = { [DESCRIPTION_ANNOTATION]: wish.description };
  await api.request('POST', SECRETS, { ...secret, metadata: { ...secret.metadata, annotations } });
  const text = `${token.id}.${token.secret}.${publicKeyHash(new X509Certificate(api.certificateAuthority))}`;
  return { id: token.id, text };
}

interface CreateOptions {
  data: string;
  ttl: string;
  description: string;
  advertise?: string;
}

async function create(options: CreateOptions): Promise<void> {
  const ttlSeconds = durationSeconds(options.ttl);
  const api = apiClientFromKubeconfig(kubeconfigPath(options.data));
  const token = await createToken(api, { ttlSeconds, description: options.description });
  const server = await reachableServer(api.server, options.advertise);
  process.stdout.write(`everynode-agent --server ${server} --token ${token.text}\n`);
}

async function list(options: { data: string }): Promise<void> {
  const api = apiClientFromKubeconfig(kubeconfigPath(options.data));
  const query = `?fieldSelector=${encodeURIComponent(`type=${TOKEN_SECRET_TYPE}`)}`;
  const { items } = await api.request<{ items: Secret[] }>('GET', SECRETS + query);
  const rows = items.map(({ data = {}, metadata: { annotations = {} } }) => [
    decode(data['token-id']),
    decode(data.expiration) || '<never>',
    annotations[DESCRIPTION_ANNOTATION] || '<none>',
  ]);
  for (const [id = '', expires = '', description = ''] of [['ID', 'EXPIRES', 'DESCRIPTION'], ...rows]) {
    process.stdout.write(`${id.padEnd(ID_WIDTH)}${expires.padEnd(EXPIRES_WIDTH)}${description}\n`);
  }
}

async function remove(id: string, options: { data: string }): Promise<void> {
  const api = apiClientFromKubeconfig(kubeconfigPath(options.data));
  await api.request('DELETE', `${SECRETS}/${encodeURIComponent(TOKEN_SECRET_PREFIX + id)}`);
  process.stdout.write(`token ${id} deleted\n`);
}

function decode(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString();
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

function durationSeconds(text: string): number {
  if (text === '0') return 0;
  const match = /^(\d+)([smhd])$/.exec(text);
  if (match) return Number(match[1]) * (UNIT_SECONDS[match[2] ?? ''] ?? 0);
  throw new ExitError(
    EXIT_CODES.usage,
    `--ttl: must be a duration such as 30m, 24h or 7d, or 0, not "${text}".`,
  );
}
