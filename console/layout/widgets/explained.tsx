/**
 * Text with an explanation that opens when the mouse rests on it, on focus by keyboard and on a tap, and closes on Escape.
 * A `title` attribute would open for a mouse only. All explanations share one popup, because tables have hundreds.
 */
import { Tooltip } from '@base-ui/react/tooltip';
import { type ReactNode, useId, useRef } from 'react';
import classes from './explained.module.css';

const HANDLE = Tooltip.createHandle<ReactNode>();
const POPUP_ID = 'explanation';
const DELAY_MS = 300;

interface ExplainedProps {
  /** Rendered only while it is shown. */
  explanation: ReactNode;
  children: ReactNode;
}

export function Explained({ explanation, children }: ExplainedProps) {
  const id = useId();
  return (
    <Tooltip.Trigger
      id={id}
      handle={HANDLE}
      payload={explanation}
      delay={DELAY_MS}
      closeOnClick={false}
      // Base UI opens a tooltip for a mouse and for a keyboard, but not on a tap.
      onClick={() => HANDLE.isOpen || HANDLE.open(id)}
      render={(props, { open }) => (
        <button
          {...props}
          type="button"
          className={classes.explained}
          aria-describedby={open ? POPUP_ID : undefined}
        />
      )}
    >
      {children}
    </Tooltip.Trigger>
  );
}

/** Shows the explanation of the `Explained` that is pointed at, focused or tapped. Render it once. */
export function ExplanationPopup() {
  const isTapped = useRef(false);
  // A tap moves the mouse of the browser, which then leaves the text: the popup would disappear at once.
  const onOpenChange = (isOpen: boolean, { reason, cancel }: Tooltip.Root.ChangeEventDetails) => {
    if (isOpen) isTapped.current = reason === 'imperative-action';
    else if (isTapped.current && reason === 'trigger-hover') cancel();
  };
  return (
    <Tooltip.Root handle={HANDLE} onOpenChange={onOpenChange}>
      {({ payload }) => (
        <Tooltip.Portal>
          <Tooltip.Positioner className={classes.positioner} sideOffset={4} collisionPadding={8}>
            <Tooltip.Popup id={POPUP_ID} role="tooltip" className={classes.popup}>
              {payload}
            </Tooltip.Popup>
          </Tooltip.Positioner>
        </Tooltip.Portal>
      )}
    </Tooltip.Root>
  );
}
