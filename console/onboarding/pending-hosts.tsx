/** Hosts that wait for approval, with bulk approval. */

import { useState } from 'react';
import {
  type CertificateSigningRequest,
  REQUESTED_NODE_ANNOTATION,
  requestPhase,
  withApprovalDecision,
} from '../../shared/kube/access/certificate-signing-request.js';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { requestApi } from '../api/api-call.js';
import { JOIN_REQUESTS, SIGNING_REQUESTS } from '../api/join-requests.js';
import { useLiveList } from '../api/live-list.js';
import { type Confirmation, ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { ListTable } from '../layout/list-table.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { RelativeTime } from '../layout/time/relative-time.js';
import { counted, t } from '../texts/translate.js';
import classes from './onboarding.module.css';

type Decision = 'Approved' | 'Denied';

/** `isAsked` is true if new hosts need approval. The section is then also shown when it is empty. */
export function PendingHosts({ isAsked }: { isAsked: boolean }) {
  const { objects, phase } = useLiveList<CertificateSigningRequest>(JOIN_REQUESTS);
  const mayDecide = useIsAllowed(ACCESS.approve);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [question, setQuestion] = useState<Confirmation>();
  const waiting = objects.filter((each) => requestPhase(each) === 'pending');
  if (phase === 'refused' || (waiting.length === 0 && !isAsked && !question)) return null;
  const picked = waiting.filter(({ metadata }) => selected.has(metadata.name));
  const toggle = (name: string) => {
    const next = new Set(selected);
    if (!next.delete(name)) next.add(name);
    setSelected(next);
  };
  return (
    <section className={classes.part} aria-label={t('Pending hosts')}>
      <h2>{t('Waiting for approval')}</h2>
      {waiting.length === 0 && <p>{t('No hosts are waiting.')}</p>}
      {mayDecide && waiting.length > 0 && (
        <div className={controls.row}>
          <button
            type="button"
            className={controls.button}
            onClick={() => setSelected(new Set(waiting.map(({ metadata }) => metadata.name)))}
          >
            {t('Select all {{count}}', { count: waiting.length })}
          </button>
          {(['Approved', 'Denied'] as const).map((decision) => (
            <button
              key={decision}
              type="button"
              className={controls.button}
              disabled={picked.length === 0}
              onClick={() => setQuestion(questionFor(decision, picked))}
            >
              {VERBS[decision]} {picked.length}
            </button>
          ))}
        </div>
      )}
      {waiting.length > 0 && (
        <ListTable label="Hosts waiting for approval" columns={['Host', 'Asked', 'From', 'Why', 'By']}>
          {waiting.map((each) => (
            <Row
              key={each.metadata.name}
              waiting={each}
              {...(mayDecide ? { isSelected: selected.has(each.metadata.name), onToggle: toggle } : {})}
            />
          ))}
        </ListTable>
      )}
      {question && <ConfirmDialog question={question} onClose={() => setQuestion(undefined)} />}
    </section>
  );
}

interface RowProps {
  waiting: CertificateSigningRequest;
  isSelected?: boolean;
  onToggle?: (name: string) => void;
}

function Row({ waiting, isSelected = false, onToggle }: RowProps) {
  const { annotations = {}, name, creationTimestamp } = waiting.metadata;
  return (
    <tr>
      <th scope="row">
        {onToggle ? (
          <label className={controls.row}>
            <input type="checkbox" checked={isSelected} onChange={() => onToggle(name)} />
            {nodeOf(waiting)}
          </label>
        ) : (
          nodeOf(waiting)
        )}
      </th>
      <td>{creationTimestamp && <RelativeTime at={creationTimestamp} />}</td>
      <td>{annotations['everynode.dev/remote-address']}</td>
      <td>{annotations['everynode.dev/reason']}</td>
      <td>{waiting.spec.username}</td>
    </tr>
  );
}

const VERBS: Readonly<Record<Decision, string>> = { Approved: 'Approve', Denied: 'Deny' };

function questionFor(decision: Decision, waiting: readonly CertificateSigningRequest[]): Confirmation {
  const verb = VERBS[decision];
  const count = counted('{{count}} hosts', waiting.length);
  const names = waiting.map(nodeOf);
  return {
    title:
      decision === 'Approved'
        ? t('Approve {{hosts}}?', { hosts: count })
        : t('Deny {{hosts}}?', { hosts: count }),
    text: (
      <>
        <p>
          {decision === 'Approved'
            ? t('The hosts get certificates and become Nodes. DaemonSets start their Pods on them.')
            : t('The hosts are rejected.')}
        </p>
        <p>
          {names.length > 10
            ? t('{{names}} and {{more}} more', {
                names: names.slice(0, 10).join(', '),
                more: names.length - 10,
              })
            : names.join(', ')}
        </p>
        <CopyCommand text={`everynode node ${verb.toLowerCase()} ${names.slice(0, 3).join(' ')}`} />
      </>
    ),
    act:
      decision === 'Approved'
        ? t('Approve {{hosts}}', { hosts: count })
        : t('Deny {{hosts}}', { hosts: count }),
    reason: 'none',
    perform: async () => {
      const failed: string[] = [];
      for (const each of waiting) {
        await decide(each, decision).catch((error: unknown) => failed.push(`${nodeOf(each)}: ${error}`));
      }
      if (failed.length > 0)
        throw new Error(
          t('{{failed}} of {{hosts}} failed. {{first}}', {
            failed: failed.length,
            hosts: count,
            first: failed[0] ?? '',
          }),
        );
    },
  };
}

async function decide(waiting: CertificateSigningRequest, decision: Decision): Promise<void> {
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  const body = withApprovalDecision(waiting, decision, 'the console', time);
  await requestApi(`${SIGNING_REQUESTS}/${waiting.metadata.name}/approval`, { method: 'PUT', body });
}

function nodeOf({ metadata }: CertificateSigningRequest): string {
  return metadata.annotations?.[REQUESTED_NODE_ANNOTATION] ?? metadata.name;
}
