/** A user's steps in the YAML editor. */
import type { Locator } from 'playwright-core';

/** Replaces the editor's whole text, like a paste over a full selection. */
export async function rewrite(editor: Locator, change: (text: string) => string): Promise<void> {
  const text = await textOf(editor);
  await editor.focus();
  await editor.press('ControlOrMeta+A');
  await editor.evaluate(PASTE, change(text));
}

/** Runs in the page. The browser would split multi-line typed text into paragraphs. */
const PASTE = new Function(
  'element',
  'text',
  `const data = new DataTransfer();
   data.setData('text/plain', text);
   element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));`,
) as (element: unknown, text: string) => void;

/** The text that "select all" and copy give. Lines outside the viewport are not in the page's DOM. */
export async function textOf(editor: Locator): Promise<string> {
  await editor.focus();
  await editor.press('ControlOrMeta+A');
  return editor.evaluate(COPY);
}

const COPY = new Function(
  'element',
  `const data = new DataTransfer();
   element.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }));
   return data.getData('text/plain');`,
) as (element: unknown) => string;
