/** `everynode node approve|deny|revoke`: admits hosts to the fleet and revokes their access. */

import type { Command } from 'commander';
import {
  type CertificateSigningRequest,
  KUBELET_CLIENT_SIGNER,
  REQUESTED_NODE_ANNOTATION,
  requestPhase,
  withApprovalDecision,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { credentialSecretName, revokedData } from '../../../shared/kube/nodes/node-credential-secret.js';
import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { type ApiClient, connect } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CREDENTIALS = '/api/v1/namespaces/kube-system/secrets';

type Decision = 'Approved' | 'Denied';

interface DecideOptions extends KubeconfigOptions {
  all?: boolean;
  selector?: string;
}

export function nodeCommand(program: Command): void {
  const node = program.command('node').description('approve, deny or revoke hosts');
  for (const [verb, decision] of [
    ['approve', 'Approved'],
    ['deny', 'Denied'],
  ] as const) {
    const command = node
      .command(verb)
      .argument('[NAME...]', 'names of nodes or of their requests (kubectl get csr)')
      .description(`${verb} pending hosts`)
      .option('--all', 'all pending hosts')
      .option('-l, --selector <SELECTOR>', 'pending hosts with matching labels');
    addKubeconfigOptions(command).action((names: string[], options: DecideOptions) =>
      decideOn(decision, names, options),
    );
  }
  const command = node
    .command('revoke')
    .argument('<NAME...>', 'names of nodes')
    .description('revoke the keys of nodes and close their links (kubectl delete node frees their names)');
  addKubeconfigOptions(command).action(revoke);
}

async function decideOn(decision: Decision, names: string[], options: DecideOptions): Promise<void> {
  if (names.length === 0 && !options.all && options.selector === undefined) {
    throw new ExitError(EXIT_CODES.usage, 'No hosts selected: pass names, --selector or --all.');
  }
  const api = connect(options);
  const waiting = await waitingRequests(api, options.selector);
  const chosen =
    names.length === 0 ? waiting : waiting.filter((request) => names.some((name) => isOf(request, name)));
  const lacking = names.find((name) => !chosen.some((request) => isOf(request, name)));
  if (lacking !== undefined) throw new ExitError(EXIT_CODES.usage, `There is no pending host ${lacking}.`);
  for (const request of chosen) {
    await decide(api, request, decision);
    printLine(`${nodeOf(request)} ${decision.toLowerCase()} (${request.metadata.name})`);
  }
  if (chosen.length === 0) printLine('no pending hosts');
}

async function waitingRequests(
  api: ApiClient,
  selector: string | undefined,
): Promise<CertificateSigningRequest[]> {
  const query = new URLSearchParams({ fieldSelector: `spec.signerName=${KUBELET_CLIENT_SIGNER}` });
  if (selector !== undefined) query.set('labelSelector', selector);
  const { items } = await api.request<{ items: CertificateSigningRequest[] }>('GET', `${REQUESTS}?${query}`);
  return items.filter((request) => requestPhase(request) === 'pending');
}

async function decide(api: ApiClient, request: CertificateSigningRequest, type: Decision): Promise<void> {
  const decided = withApprovalDecision(request, type, 'everynode node', toTimestamp(Date.now()));
  await api.request('PUT', `${REQUESTS}/${encodeURIComponent(request.metadata.name)}/approval`, decided);
}

function isOf(request: CertificateSigningRequest, name: string): boolean {
  return request.metadata.name === name || nodeOf(request) === name;
}

function nodeOf({ metadata }: CertificateSigningRequest): string {
  return metadata.annotations?.[REQUESTED_NODE_ANNOTATION] ?? metadata.name;
}

async function revoke(nodes: string[], options: KubeconfigOptions): Promise<void> {
  const api = connect(options);
  const unknown: string[] = [];
  for (const node of nodes) if (!(await revokeOne(api, node))) unknown.push(node);
  if (unknown.length > 0)
    throw new ExitError(EXIT_CODES.usage, `There is no joined host ${unknown.join(', ')}.`);
}

/** Returns false if no host has joined under this name. */
async function revokeOne(api: ApiClient, node: string): Promise<boolean> {
  const path = `${CREDENTIALS}/${encodeURIComponent(credentialSecretName(node))}`;
  const secret = await orUndefined(() => api.request<Secret>('GET', path));
  if (!secret) return false;
  await api.request('PUT', path, { ...secret, data: revokedData(secret.data ?? {}) });
  printLine(
    `node ${node} revoked: its key is invalid and its link is closed; to free the name: kubectl delete node ${node}`,
  );
  return true;
}
