/** Asks before edits that are not saved are lost: by a link, by Back, or by closing the tab. */
import { useCallback, useEffect, useRef } from 'react';
import type { AroundNavHandler } from 'wouter';
import { t } from '../texts/translate.js';

/** The editors with unsaved changes, each with the address of its page. */
const edits = new Map<object, string>();

/**
 * Navigates if there are no unsaved edits, or if the user discards them. The router passes the whole path, with the base of
 * the console.
 */
export const askBeforeLeaving: AroundNavHandler = (navigate, to, options) => {
  if (isSamePart(to) || mayDiscard()) navigate(to, options);
};

/** True for an address of the present page with the same tab and editor. Another tab removes the editor, as a page does. */
function isSamePart(address: string): boolean {
  const [there, here] = [new URL(address, location.href), new URL(location.href)];
  const isSame = (name: string) => there.searchParams.get(name) === here.searchParams.get(name);
  return there.pathname === here.pathname && isSame('tab') && isSame('edit');
}

/** Protects an editor while `isUnsaved`. Returns a function to call before leaving the page after a save. */
export function useUnsavedEdit(isUnsaved: boolean): () => void {
  const edit = useRef({});
  useEffect(() => {
    const own = edit.current;
    return isUnsaved ? protectEdit(own) : undefined;
  }, [isUnsaved]);
  return useCallback(() => void edits.delete(edit.current), []);
}

/** Protects an edit of the present page. Returns a function that ends the protection. */
export function protectEdit(edit: object): () => void {
  edits.set(edit, location.href);
  return () => void edits.delete(edit);
}

function mayDiscard(): boolean {
  if (
    edits.size > 0 &&
    !confirm(t('The changes on this page are not saved. Leave the page and discard them?'))
  )
    return false;
  edits.clear();
  return true;
}

/**
 * Starts to ask on Back, Forward and when the tab is closed. Call it before the first page is shown: the router listens
 * too, and would remove the editor before this listener hears of it.
 */
export function protectUnsavedEdits(): void {
  addEventListener('beforeunload', (event) => edits.size > 0 && event.preventDefault());
  addEventListener('popstate', (event) => {
    const [address] = edits.values();
    if (address === undefined || isSamePart(address) || mayDiscard()) return;
    event.stopImmediatePropagation();
    // The browser has changed the address already.
    history.pushState(history.state, '', address);
  });
}
