/** Revisions of a DaemonSet, newest first, with rollback. */

import { useState } from 'react';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import { useIsAllowed } from '../../api/access-checks.js';
import { requestApi } from '../../api/api-call.js';
import { useLiveList } from '../../api/live-list.js';
import { ConfirmDialog } from '../../layout/confirm-dialog.js';
import controls from '../../layout/controls.module.css';
import { TableCard } from '../../layout/list-table.js';
import { RevisionTable } from '../../layout/revisions/revision-table.js';
import { CopyCommand } from '../../layout/text/copy-command.js';
import { imagesOfRevision } from '../../layout/text/image-text.js';
import { useWrites } from '../../timeline/use-writes.js';
import { CompareRevisions, templateText } from './compare-revisions.js';
import { revisionAuthor } from './revision-author.js';

const CHANGE_CAUSE = 'kubernetes.io/change-cause';

export function Revisions({ daemonSet }: { daemonSet: DaemonSet }) {
  const { namespace = '', name, uid } = daemonSet.metadata;
  const { objects, phase } = useLiveList<ControllerRevision>(
    `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`,
  );
  const writes = useWrites({ resource: 'daemonsets', namespace, name });
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
      <RevisionTable
        columns={['Version', 'Author', 'Change cause']}
        revisions={own.map((revision) => ({
          number: revision.revision,
          cells: [
            imagesOfRevision(revision),
            revisionAuthor(revision, writes.events) ?? '',
            revision.metadata.annotations?.[CHANGE_CAUSE] ?? '',
          ],
          at: revision.metadata.creationTimestamp ?? undefined,
          text: () => templateText(revision),
        }))}
        restore={
          mayRollBack
            ? {
                act: (number) => `Roll back to ${number}`,
                onSelect: (number) => setSelected(own.find(({ revision }) => revision === number)),
              }
            : undefined
        }
      />
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

/** Rolls back like `kubectl rollout undo`: applies the revision's patch to the DaemonSet. */
async function rollBack(daemonSet: DaemonSet, { data }: ControllerRevision): Promise<void> {
  const { namespace = '', name } = daemonSet.metadata;
  await requestApi(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`, {
    method: 'PATCH',
    contentType: 'application/strategic-merge-patch+json',
    body: data,
  });
}
