/**
 * YAML editor with validation while typing. It is in a shadow root: there CodeMirror uses constructed style sheets,
 * which the Content-Security-Policy allows. In the document it would use inline styles, which the policy blocks.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  type ViewUpdate,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { Problem } from './manifest-text.js';

/** Delay of validation after the last keystroke. */
const CHECK_AFTER_MS = 500;

/** CSS variables of the theme are inherited by the shadow root. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--ok-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--waiting)' },
  { tag: [tags.comment, tags.meta, tags.separator, tags.punctuation], color: 'var(--dim)' },
]);

const LOOKS = EditorView.theme({
  '&': { height: 'min(34rem, 60vh)', color: 'var(--text)', backgroundColor: 'var(--page)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', fontSize: '0.92em' },
  '.cm-gutters': { color: 'var(--dim)', backgroundColor: 'var(--card)', borderColor: 'var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--line) 35%, transparent)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 35%, transparent)',
  },
  '.cm-panels, .cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--card)',
    borderColor: 'var(--line)',
  },
});

interface YamlEditorProps {
  label: string;
  /** A new text replaces the text in the editor. */
  text: string;
  onChange: (text: string) => void;
  check: (text: string) => Promise<readonly Problem[]>;
}

export function YamlEditor({ label, text, onChange, check }: YamlEditorProps) {
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  // Latest props, for callbacks of the editor, which is created only once.
  const latest = useRef({ label, text, onChange, check });
  latest.current = { label, text, onChange, check };

  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const lint = linter(
      async ({ state }) => (await latest.current.check(state.doc.toString())).map(diagnosticOf),
      { delay: CHECK_AFTER_MS },
    );
    const tell = EditorView.updateListener.of((update: ViewUpdate) => {
      if (update.docChanged) latest.current.onChange(update.state.doc.toString());
    });
    const state = EditorState.create({
      doc: latest.current.text,
      extensions: [...extensions(latest.current.label), lint, tell],
    });
    const editor = new EditorView({ state, root, parent: root });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);

  return <div ref={frame} />;
}

/** Tab leaves the editor (WCAG 2.1.2). Ctrl-] and Ctrl-[ indent. */
function extensions(label: string): Extension[] {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    yaml(),
    syntaxHighlighting(COLOURS),
    LOOKS,
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
    // axe does not recognise that the editable element is focusable.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
}

function diagnosticOf({ from, to, message }: Problem): Diagnostic {
  return { from, to, message, severity: 'error' };
}
