/** Conversion between a DaemonSet and its editable text. Pure. */
import { isMap, parseDocument, stringify } from 'yaml';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { StatusCause } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { rangeOfField, type TextRange } from './manifest-field-range.js';

/** A problem and its position. `line` starts at 1. */
export interface Problem extends TextRange {
  line: number;
  message: string;
}

export interface Refusal {
  message: string;
  causes: readonly StatusCause[];
}

/** Bookkeeping of kubectl. Hidden in the editor. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns the editable part as YAML: no status, and no fields that the coordinator sets. */
export function manifestText({ metadata, spec }: Pick<DaemonSet, 'metadata' | 'spec'>): string {
  const { name, namespace, labels, annotations = {} } = metadata;
  const { [LAST_APPLIED]: _, ...own } = annotations;
  const shown = { name, namespace, labels, ...(Object.keys(own).length > 0 ? { annotations: own } : {}) };
  return stringify({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: shown, spec }, { lineWidth: 0 });
}

/** Parses the text. Returns the object, or the problems. */
export function readManifest(text: string): { manifest: Record<string, unknown> } | { problems: Problem[] } {
  const document = parseDocument(text, { version: '1.1', prettyErrors: false });
  const problems = document.errors.map(({ message, pos: [from, to] }) =>
    problemAt(text, { from, to }, message),
  );
  if (problems.length > 0) return { problems };
  if (isMap(document.contents)) return { manifest: document.toJS() as Record<string, unknown> };
  return {
    problems: [problemAt(text, { from: 0, to: text.length }, 'The manifest must be a YAML mapping.')],
  };
}

/** Returns the body of the write. Metadata that the text does not show is kept from the loaded object. */
export function mergeManifest(base: KubeObject, manifest: Record<string, unknown>): Record<string, unknown> {
  const edited = (manifest.metadata ?? {}) as KubeObject['metadata'];
  const { managedFields: _, labels: __, annotations, ...kept } = base.metadata;
  const lastApplied = annotations?.[LAST_APPLIED];
  const own = { ...(lastApplied ? { [LAST_APPLIED]: lastApplied } : {}), ...edited.annotations };
  return { ...manifest, metadata: { ...kept, ...edited, annotations: own } };
}

/** Converts an error of the API to problems with line numbers. */
export function problemsOf(text: string, { message, causes }: Refusal): Problem[] {
  const document = parseDocument(text, { version: '1.1', prettyErrors: false });
  const at = (field: string, words: string) => problemAt(text, rangeOfField(document, field), words);
  const found = causes.flatMap((cause) =>
    cause.field ? [at(cause.field, `${cause.field}: ${cause.message ?? ''}`)] : [],
  );
  if (found.length > 0) return found;
  const unknown = [...message.matchAll(/unknown field "([^"]+)"/g)].map(([words, field = '']) =>
    at(field, words),
  );
  if (unknown.length > 0) return unknown;
  const [, field, wanted] = /Go struct field \w+\.(\S+) of type (\S+)/.exec(message) ?? [];
  if (field) return [at(field, `${field}: must be of type ${wanted}`)];
  return [problemAt(text, { from: 0, to: 0 }, message)];
}

function problemAt(text: string, { from, to }: TextRange, message: string): Problem {
  const line = text.slice(0, from).split('\n').length;
  return { from: Math.min(from, text.length), to: Math.min(to, text.length), line, message };
}
