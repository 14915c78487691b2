/** One request of the activity: when, who did what, and the change itself on demand. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { AuditEvent } from '../../shared/kube/access/audit-types.js';
import controls from '../layout/controls.module.css';
import { RelativeTime } from '../layout/time/relative-time.js';
import { t } from '../texts/translate.js';
import { activitySentence } from './activity-sentence.js';
import classes from './audit-page.module.css';
import { ChangeList } from './change-list.js';
import { changeSummary, recordedChangesOf } from './change-summary.js';

interface ActivityRowProps {
  event: AuditEvent;
  /** Path of this page with another filter. */
  filtered: (name: 'user' | 'object', value: string) => string;
}

export function ActivityRow({ event, filtered }: ActivityRowProps) {
  const { who, did, kind, object, href } = activitySentence(event);
  const { sourceIPs, responseStatus, requestReceivedTimestamp, verb } = event;
  const changes = recordedChangesOf(event);
  const summary = changeSummary(event, changes);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <td>
          <RelativeTime at={requestReceivedTimestamp} />
        </td>
        <td className={classes.what}>
          <Link href={filtered('user', who)}>{who}</Link> {did} {kind}{' '}
          {href ? <Link href={href}>{object}</Link> : object}
          {summary && `: ${summary}`}
        </td>
        <td className={responseStatus.code >= 400 ? controls.problem : undefined}>
          {responseStatus.code} {responseStatus.reason ?? ''}
        </td>
        <td>
          <button
            type="button"
            className={classes.toggle}
            aria-expanded={isOpen}
            aria-label={`${changes ? 'Change' : 'Details'} of ${object || event.requestURI}`}
            onClick={() => setOpen(!isOpen)}
          >
            {changes ? 'Change' : 'Details'}
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={4}>
            {changes && <ChangeList changes={changes} />}
            <p className={controls.dim}>
              {verb} {event.requestURI} from {sourceIPs.join(', ')}
              {event.userAgent && ` by ${event.userAgent}`}
            </p>
            <p>
              <Link href={filtered('user', who)}>{t('Only activity of {{name}}', { name: who })}</Link>
            </p>
            {object !== '' && (
              <Link href={filtered('object', object)}>
                {t('Only activity of {{name}}', { name: object })}
              </Link>
            )}
          </td>
        </tr>
      )}
    </>
  );
}
