/** `everynode audit`: prints audit events from the API. */

import type { Command } from 'commander';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { connect } from '../client/api-client.js';
import { addKubeconfigOptions, type KubeconfigOptions } from '../client/kubeconfig-choice.js';
import { durationSeconds } from '../terminal/command-options.js';
import { addOutputOption, documentsIn, type OutputForm } from '../terminal/output-form.js';

interface AuditOptions extends KubeconfigOptions {
  user?: string;
  verb?: string;
  resource?: string;
  namespace?: string;
  name?: string;
  code?: string;
  since: string;
  limit: string;
  output: OutputForm;
}

export function auditCommand(program: Command): void {
  const command = program
    .command('audit')
    .description('list changes, refused requests, reads of Secrets and streams into containers')
    .option('--user <NAME>', 'only requests of this user')
    .option('--verb <VERB>', 'create, update, patch, delete, join …')
    .option('--resource <RESOURCE>', 'daemonsets, secrets …')
    .option('-n, --namespace <NS>', 'only objects in this namespace')
    .option('--name <NAME>', 'only the object with this name')
    .option('--code <CODE>', 'only this status code: 403 or 4xx')
    .option('--since <DURATION>', 'maximum age: 30m, 24h, 7d; 0 = all', '24h')
    .option('--limit <N>', 'maximum number of events (the newest)', '500');
  addKubeconfigOptions(addOutputOption(command, { hasWide: true })).action(audit);
}

async function audit(options: AuditOptions): Promise<void> {
  const api = connect(options);
  const path = `/apis/${FLEET_GROUP}/v1/auditevents?${queryOf(options)}`;
  const { items } = await api.request<{ items: AuditEvent[] }>('GET', path);
  const document = documentsIn(options.output, items);
  if (document !== undefined) return printDocument(document);
  for (const event of items) printLine(lineOf(event, options.output === 'wide'));
}

function queryOf(options: AuditOptions): URLSearchParams {
  const query = new URLSearchParams({ limit: options.limit });
  const seconds = durationSeconds(options.since, '--since');
  if (seconds > 0) query.set('since', new Date(Date.now() - seconds * 1000).toISOString());
  for (const field of ['user', 'verb', 'resource', 'namespace', 'name', 'code'] as const) {
    const value = options[field];
    if (value !== undefined) query.set(field, value);
  }
  return query;
}

function lineOf(event: AuditEvent, isWide: boolean): string {
  const { user, impersonatedUser, verb, sourceIPs, responseStatus } = event;
  const who = impersonatedUser
    ? `${user.username} as ${impersonatedUser.username}`
    : user.username || '<anonymous>';
  return [
    event.requestReceivedTimestamp,
    String(responseStatus.code),
    who,
    verb,
    objectText(event),
    `from ${sourceIPs.join(',')}`,
    ...(isWide ? [`with ${event.userAgent ?? '<unknown>'}`, event.auditID] : []),
  ].join('  ');
}

function objectText({ objectRef, requestURI }: AuditEvent): string {
  if (!objectRef) return requestURI;
  const { resource, apiGroup, subresource, namespace, name } = objectRef;
  const kind = [resource, apiGroup].filter(Boolean).join('.') + (subresource ? `/${subresource}` : '');
  return [kind, [namespace, name].filter(Boolean).join('/')].filter(Boolean).join(' ');
}
