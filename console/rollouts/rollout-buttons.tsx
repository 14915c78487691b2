/** Buttons for actions on a rollout, with confirmation. Hidden without permission. */
import { Suspense, useEffect, useState } from 'react';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import type { SteeringVerb } from '../../shared/kube/rollouts/steering-requests.js';
import { useAreChecksLoaded, useIsAllowed } from '../api/access-checks.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { lazyPage } from '../layout/lazy-page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { translated } from '../texts/translate.js';
import { type RolloutAction, rolloutActionCommand, sendRolloutAction } from './rollout-actions.js';
import { weighActions } from './rollout-phases.js';

const MoreActions = lazyPage(async () => (await import('./more-actions.js')).MoreActions);

const STEER = { verb: 'patch', group: 'fleet.everynode.dev', resource: 'rollouts' } as const;

interface RolloutButtonsProps {
  rollout: Rollout;
  actions: readonly RolloutAction[];
  /** The action that an operator most likely wants. With it, seldom used actions are in a menu. */
  primary?: SteeringVerb | undefined;
  /** True if `?act=` in the address opens the confirmation of an action. At most one on a page. */
  isAddressed?: boolean;
}

export function RolloutButtons({ rollout, actions, primary, isAddressed = false }: RolloutButtonsProps) {
  const [selected, setSelected] = useState<RolloutAction>();
  const [query, setQuery] = useUrlQuery();
  const addressed = isAddressed ? query.get('act') : null;
  const { namespace = '' } = rollout.metadata;
  const maySteer = useIsAllowed({ ...STEER, namespace });
  const isKnown = useAreChecksLoaded([{ ...STEER, namespace }]);
  const [problem, setProblem] = useState('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address opens the confirmation once
  useEffect(() => {
    if (addressed === null || !isKnown) return;
    const asked = actions.find(({ verb }) => verb === addressed);
    // An action that stays in the address would open its confirmation by itself as soon as it becomes possible.
    setQuery('act', '');
    if (maySteer && asked) setSelected(asked);
    setProblem(maySteer && asked ? '' : notPossible(addressed, maySteer));
  }, [isKnown, addressed]);
  if (problem === '' && (!maySteer || (actions.length === 0 && !selected))) return null;
  const offered = maySteer ? actions : [];
  const { shown, more } = isAddressed ? weighActions(offered, primary) : { shown: offered, more: [] };
  const main = primary ?? 'approve';
  const button = (action: RolloutAction) => (
    <button
      key={action.verb}
      type="button"
      className={controls.button}
      {...(action.verb === 'abort' ? { 'data-danger': true } : {})}
      {...(action.verb === main && action.verb !== 'abort' ? { 'data-main': true } : {})}
      onClick={() => setSelected(action)}
    >
      {action.label}
    </button>
  );
  return (
    <div className={controls.row}>
      {problem && <p role="alert">{problem}</p>}
      {shown.map(button)}
      {more.length > 0 && (
        <Suspense>
          <MoreActions actions={more} onSelect={setSelected} />
        </Suspense>
      )}
      {selected && (
        <ConfirmDialog
          question={{
            title: `${translated(selected.label)}?`,
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

function notPossible(verb: string, maySteer: boolean): string {
  if (!maySteer) return 'You are not allowed to steer rollouts in this namespace.';
  return `“${verb}” is not possible now: the rollout is in another state.`;
}
