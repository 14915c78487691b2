/** Menu of seldom used actions on a rollout. Loaded by pages that have one: the start page is smaller without it. */
import { MenuAction, MenuButton } from '../layout/widgets/menu-button.js';
import type { RolloutAction } from './rollout-actions.js';

interface MoreActionsProps {
  actions: readonly RolloutAction[];
  onSelect: (action: RolloutAction) => void;
}

export function MoreActions({ actions, onSelect }: MoreActionsProps) {
  return (
    <MenuButton label="More actions">
      {actions.map((action) => (
        <MenuAction key={action.verb} label={action.label} onSelect={() => onSelect(action)} />
      ))}
    </MenuButton>
  );
}
