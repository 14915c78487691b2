/** Buttons of which exactly one is pressed. Base UI moves between them by arrow keys, so the group is one stop of Tab. */
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import type { ReactNode } from 'react';
import { translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import classes from './toggle-buttons.module.css';

interface ToggleButtonsProps<T extends string> {
  /** For screen readers. */
  label: string;
  choices: readonly (readonly [value: T, content: ReactNode])[];
  chosen: T;
  onChoose: (value: T) => void;
}

export function ToggleButtons<T extends string>({ label, choices, chosen, onChoose }: ToggleButtonsProps<T>) {
  // Base UI identifies buttons by texts that are not empty. The value of `All` is empty.
  const pressed = choices.flatMap(([value], index) => (value === chosen ? [String(index)] : []));
  return (
    <ToggleGroup
      className={classes.buttons}
      aria-label={translated(label)}
      value={pressed}
      onValueChange={([index]) => {
        // The pressed button was pressed again: one remains.
        const choice = index === undefined ? undefined : choices[Number(index)];
        if (choice) onChoose(choice[0]);
      }}
    >
      {choices.map(([value, content], index) => (
        <Toggle key={value} value={String(index)} className={controls.button}>
          {content}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
