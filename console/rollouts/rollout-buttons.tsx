/** Buttons for actions on a rollout, with confirmation. Hidden without permission. */
import { useState } from 'react';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { useIsAllowed } from '../api/access-checks.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { type RolloutAction, rolloutActionCommand, sendRolloutAction } from './rollout-actions.js';

const STEER = { verb: 'patch', group: 'fleet.everynode.dev', resource: 'rollouts' } as const;

export function RolloutButtons({ rollout, offers }: { rollout: Rollout; offers: readonly RolloutAction[] }) {
  const [asked, setAsked] = useState<RolloutAction>();
  const { namespace = '' } = rollout.metadata;
  const maySteer = useIsAllowed({ ...STEER, namespace });
  if (!maySteer || offers.length === 0) return null;
  return (
    <div className={controls.row}>
      {offers.map((offer) => (
        <button key={offer.verb} type="button" className={controls.button} onClick={() => setAsked(offer)}>
          {offer.label}
        </button>
      ))}
      {asked && (
        <ConfirmDialog
          question={{
            title: `${asked.label}?`,
            text: (
              <>
                <p>{asked.consequence}</p>
                <CopyCommand text={rolloutActionCommand(rollout, asked)} />
              </>
            ),
            act: asked.label,
            reason: asked.needsReason ? 'needed' : 'welcome',
            perform: (reason) => sendRolloutAction(rollout, asked, reason),
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </div>
  );
}
