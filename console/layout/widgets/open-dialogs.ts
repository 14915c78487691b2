/**
 * Counts the dialogs that the rows of a list have opened. A list that changes must not remove such a row, because its
 * dialog and the typed text would disappear.
 */
import { createContext, useContext, useEffect, useState } from 'react';

type CountDialog = (change: 1 | -1) => void;

/** The list around a dialog. Its value is the second result of `useOpenDialogs`. */
export const DialogOwner = createContext<CountDialog>(() => undefined);

/** Returns whether a dialog below the `DialogOwner` with this value is open. */
export function useOpenDialogs(): readonly [isOpen: boolean, owner: CountDialog] {
  const [count, setCount] = useState(0);
  const [owner] = useState<CountDialog>(() => (change: 1 | -1) => setCount((before) => before + change));
  return [count > 0, owner];
}

/** Call it in a component that is rendered only while its dialog is open. */
export function useReportedDialog(): void {
  const count = useContext(DialogOwner);
  useEffect(() => {
    count(1);
    return () => count(-1);
  }, [count]);
}
