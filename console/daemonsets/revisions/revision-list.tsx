/** Revisions of a DaemonSet, newest first, with rollback. */

import { Fragment, useState } from 'react';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import { useIsAllowed } from '../../api/access-checks.js';
import { requestApi } from '../../api/api-call.js';
import { useLiveList } from '../../api/live-list.js';
import { ConfirmDialog } from '../../layout/confirm-dialog.js';
import controls from '../../layout/controls.module.css';
import { TableCard } from '../../layout/list-table.js';
import table from '../../layout/table.module.css';
import { CopyCommand } from '../../layout/text/copy-command.js';
import { imagesOfRevision } from '../../layout/text/image-text.js';
import { TextDiff } from '../../layout/text/text-diff.js';
import { RelativeTime } from '../../layout/time/relative-time.js';
import { useWrites } from '../../timeline/use-writes.js';
import classes from '../daemonset-page.module.css';
import { CompareRevisions, templateText } from './compare-revisions.js';
import { revisionAuthor } from './revision-author.js';

const CHANGE_CAUSE = 'kubernetes.io/change-cause';

export function Revisions({ daemonSet }: { daemonSet: DaemonSet }) {
  const { namespace = '', name, uid } = daemonSet.metadata;
  const { objects, phase } = useLiveList<ControllerRevision>(
    `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`,
  );
  const writes = useWrites({ resource: 'daemonsets', namespace, name });
  const [open, setOpen] = useState<number>();
  const [selected, setSelected] = useState<ControllerRevision>();
  const mayRollBack = useIsAllowed({ verb: 'patch', group: 'apps', resource: 'daemonsets', namespace });
  const own = objects
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .sort((a, b) => b.revision - a.revision);
  if (phase === 'refused' || own.length === 0) return null;
  const undo = (revision: number) =>
    `kubectl -n ${namespace} rollout undo daemonset/${name} --to-revision=${revision}`;
  return (
    <TableCard label="Revisions">
      <h2>Revisions</h2>
      <table className={`${table.table} ${table.wraps} ${table.details}`}>
        <thead>
          <tr>
            <th scope="col">Revision</th>
            <th scope="col">Version</th>
            <th scope="col">Author</th>
            <th scope="col">Change cause</th>
            <th scope="col">Created</th>
            <th scope="col" aria-label="Action" />
          </tr>
        </thead>
        <tbody>
          {own.map((revision, index) => (
            <Fragment key={revision.metadata.uid}>
              <tr>
                <th scope="row">{revision.revision}</th>
                <td>{imagesOfRevision(revision)}</td>
                <td>{revisionAuthor(revision, writes.events) ?? ''}</td>
                <td>{revision.metadata.annotations?.[CHANGE_CAUSE] ?? ''}</td>
                <td>
                  {revision.metadata.creationTimestamp && (
                    <RelativeTime at={revision.metadata.creationTimestamp} />
                  )}
                </td>
                <td>
                  <div className={classes.buttons}>
                    {index < own.length - 1 && (
                      <button
                        type="button"
                        className={controls.button}
                        aria-expanded={open === revision.revision}
                        aria-label={`Changes of revision ${revision.revision}`}
                        onClick={() => setOpen(open === revision.revision ? undefined : revision.revision)}
                      >
                        Changes
                      </button>
                    )}
                    {index === 0 && <span>current</span>}
                    {index > 0 && mayRollBack && (
                      <button type="button" className={controls.button} onClick={() => setSelected(revision)}>
                        Roll back to {revision.revision}
                      </button>
                    )}
                  </div>
                </td>
              </tr>
              {open === revision.revision && <ChangesRow revision={revision} before={own[index + 1]} />}
            </Fragment>
          ))}
        </tbody>
      </table>
      <p className={controls.dim}>Authors are from the audit log: {writes.reach}.</p>
      {own.length > 1 && <CompareRevisions namespace={namespace} name={name} revisions={own} />}
      {selected && (
        <ConfirmDialog
          question={{
            title: `Roll back to revision ${selected.revision}?`,
            text: (
              <>
                <p>
                  The template of revision {selected.revision} is restored and rolled out to{' '}
                  {countText(daemonSet.status?.desiredNumberScheduled ?? 0, 'host')} by the current policy.
                </p>
                <CopyCommand text={undo(selected.revision)} />
              </>
            ),
            act: `Roll back to ${selected.revision}`,
            reason: 'none',
            perform: () => rollBack(daemonSet, selected),
          }}
          onClose={() => setSelected(undefined)}
        />
      )}
    </TableCard>
  );
}

/** The difference to the revision before. */
function ChangesRow({
  revision,
  before,
}: {
  revision: ControllerRevision;
  before?: ControllerRevision | undefined;
}) {
  if (!before) return null;
  return (
    <tr>
      <td colSpan={6} data-long>
        <TextDiff
          label={`Changes from revision ${before.revision} to ${revision.revision}`}
          before={templateText(before)}
          after={templateText(revision)}
        />
      </td>
    </tr>
  );
}

/** Rolls back like `kubectl rollout undo`: applies the revision's patch to the DaemonSet. */
async function rollBack(daemonSet: DaemonSet, { data }: ControllerRevision): Promise<void> {
  const { namespace = '', name } = daemonSet.metadata;
  await requestApi(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`, {
    method: 'PATCH',
    contentType: 'application/strategic-merge-patch+json',
    body: data,
  });
}
