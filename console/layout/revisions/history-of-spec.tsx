/** The earlier specs that an object keeps in its status: who changed what, and the way back. */
import { useState } from 'react';
import { stringify } from 'yaml';
import {
  changeText,
  keptSpecs,
  type ObjectWithHistory,
  restoringPatch,
  specAt,
} from '../../../shared/kube/objects/spec-history.js';
import { useIsAllowed } from '../../api/access-checks.js';
import { requestApi } from '../../api/api-call.js';
import { t } from '../../texts/translate.js';
import { type Confirmation, ConfirmDialog } from '../confirm-dialog.js';
import { TableCard } from '../list-table.js';
import { CopyCommand } from '../text/copy-command.js';
import { TextDiff } from '../text/text-diff.js';
import { RevisionTable } from './revision-table.js';

interface SpecHistoryProps {
  object: ObjectWithHistory;
  group: string;
  resource: string;
  /** Path of the object in the API. */
  path: string;
  /** The object as `everynode values` names it, such as `hv/kiel`. */
  target: string;
  /** The effect of restoring a version. */
  effect: string;
}

export function SpecHistory({ object, group, resource, path, target, effect }: SpecHistoryProps) {
  const { namespace = '' } = object.metadata;
  // As it was when the user chose: a later change of another user must not be undone unseen.
  const [selected, setSelected] = useState<{ object: ObjectWithHistory; number: number }>();
  const mayRestore = useIsAllowed({ verb: 'patch', group, resource, namespace });
  const kept = keptSpecs(object).reverse();
  const act = (number: number) => t('Restore version {{number}}', { number });
  const spec = selected && specAt(selected.object, selected.number);
  return (
    <TableCard label="History">
      <h2>{t('History')}</h2>
      <RevisionTable
        columns={['By', 'What']}
        revisions={kept.map((each) => ({
          number: each.generation,
          cells: [each.changedBy ?? '', changeText(each)],
          at: each.changedAt,
          text: () => specText(specAt(object, each.generation)),
        }))}
        restore={mayRestore ? { act, onSelect: (number) => setSelected({ object, number }) } : undefined}
      />
      {selected && spec && (
        <ConfirmDialog
          question={restoreQuestion({ ...selected, path, target, effect, spec })}
          onClose={() => setSelected(undefined)}
        />
      )}
    </TableCard>
  );
}

interface RestoreQuestion {
  object: ObjectWithHistory;
  path: string;
  target: string;
  effect: string;
  number: number;
  spec: object;
}

function restoreQuestion({ object, path, target, effect, number, spec }: RestoreQuestion): Confirmation {
  const { namespace = '', name } = object.metadata;
  return {
    title: t('Restore version {{number}} of {{name}}?', { number, name }),
    text: (
      <>
        <p>{effect}</p>
        <TextDiff label="Changes" before={specText(object.spec)} after={specText(spec)} />
        <CopyCommand text={`everynode values undo ${target} --to-revision=${number} -n ${namespace}`} />
      </>
    ),
    act: t('Restore version {{number}}', { number }),
    reason: 'none',
    perform: async () => {
      const body = restoringPatch(object, spec);
      if (body) await requestApi(path, { method: 'PATCH', contentType: MERGE, body });
    },
  };
}

const MERGE = 'application/merge-patch+json';

function specText(spec: object | undefined): string {
  return stringify(spec ?? {}, { lineWidth: 0 });
}
