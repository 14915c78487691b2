/** Buttons for actions on a job, with confirmation. Hidden without permission. */
import { useState } from 'react';
import { useIsAllowed } from '../api/access-checks.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { translated } from '../texts/translate.js';
import type { JobAction } from './job-writes.js';

interface JobButtonsProps {
  resource: string;
  namespace: string;
  name: string;
  actions: readonly JobAction[];
}

export function JobButtons({ resource, namespace, name, actions }: JobButtonsProps) {
  const [selected, setSelected] = useState<JobAction>();
  const about = { group: 'fleet.everynode.dev', resource, namespace };
  const patch = useIsAllowed({ ...about, verb: 'patch' });
  const patchRollouts = useIsAllowed({ ...about, resource: 'rollouts', verb: 'patch' });
  const may = {
    patch,
    steer: patch && patchRollouts,
    delete: useIsAllowed({ ...about, verb: 'delete' }),
  };
  const allowed = actions.filter(({ verb }) => may[verb]);
  // The job can end while its dialog is open. The dialog stays until the user closes it.
  if (allowed.length === 0 && !selected) return null;
  return (
    <div className={controls.row}>
      {allowed.map((action, at) => (
        <button
          key={action.label}
          type="button"
          className={controls.button}
          data-danger={action.verb === 'delete' || undefined}
          data-main={(at === 0 && action.isMain) || undefined}
          onClick={() => setSelected(action)}
        >
          {translated(action.label)}
        </button>
      ))}
      {selected && (
        <ConfirmDialog
          question={{
            title: `${translated(selected.label)}: ${name}?`,
            text: (
              <>
                <p>{selected.consequence}</p>
                <CopyCommand text={selected.command} />
              </>
            ),
            act: selected.label,
            isDestructive: selected.verb === 'delete',
            reason: 'none',
            perform: selected.perform,
          }}
          onClose={() => setSelected(undefined)}
        />
      )}
    </div>
  );
}
