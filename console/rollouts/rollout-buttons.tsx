/** Buttons for actions on a rollout, with confirmation. Hidden without permission. */
import { useState } from 'react';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { type RolloutAction, rolloutActionCommand, sendRolloutAction } from './rollout-actions.js';

const STEER = { verb: 'patch', group: 'fleet.everynode.dev', resource: 'rollouts' } as const;

export function RolloutButtons({
  rollout,
  actions,
}: {
  rollout: Rollout;
  actions: readonly RolloutAction[];
}) {
  const [selected, setSelected] = useState<RolloutAction>();
  const { namespace = '' } = rollout.metadata;
  const maySteer = useIsAllowed({ ...STEER, namespace });
  if (!maySteer || actions.length === 0) return null;
  return (
    <div className={controls.row}>
      {actions.map((action) => (
        <button
          key={action.verb}
          type="button"
          className={controls.button}
          {...(action.verb === 'abort' ? { 'data-danger': true } : {})}
          {...(action.verb === 'approve' ? { 'data-main': true } : {})}
          onClick={() => setSelected(action)}
        >
          {action.label}
        </button>
      ))}
      {selected && (
        <ConfirmDialog
          question={{
            title: `${selected.label}?`,
            text: (
              <>
                <p>{selected.consequence}</p>
                <CopyCommand text={rolloutActionCommand(rollout, selected)} />
              </>
            ),
            act: selected.label,
            reason: selected.needsReason ? 'needed' : 'welcome',
            perform: (reason) => sendRolloutAction(rollout, selected, reason),
          }}
          onClose={() => setSelected(undefined)}
        />
      )}
    </div>
  );
}
