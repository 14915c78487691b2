/** Reads names and their comments out of source text, for reference pages about names that are constants of the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A name, its value and the text of the comment above it. */
export interface DocumentedName {
  name: string;
  value: string;
  comment: string;
}

/** Paths of all TypeScript files below `folder`, relative to `root`. */
export function sourcesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourcesBelow(root, path);
    return /(?<!\.d)\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/** The text of a source file. */
export function sourceText(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** A comment as one line of text, without its marks. */
export function commentText(comment: string): string {
  return comment
    .replace(/^\s*\/\*+|\*+\/\s*$/g, '')
    .replace(/^\s*(?:\*|\/\/) ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

const CONSTANT =
  /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?)\s*(?:export )?const (\w+)(?:: \w+)? = (?:\{ key: )?'([^'\n]+)'/g;

/** String constants, and objects that begin with a `key`, with a value that `pattern` matches. */
export function documentedConstants(text: string, pattern: RegExp): DocumentedName[] {
  return [...text.matchAll(CONSTANT)]
    .map(([, comment = '', name = '', value = '']) => ({ name, value, comment: commentText(comment) }))
    .filter(({ value }) => pattern.test(value));
}

/** Properties of an object literal or interface body, each with its comment. `body` starts after the opening brace. */
export function documentedMembers(body: string): DocumentedName[] {
  const member =
    /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?)\s*(?:readonly )?(\w+)\??: ([^;,\n]+(?:\{[^}]*\}[^;,\n]*)?)[;,]/g;
  return [...body.matchAll(member)].map(([, comment = '', name = '', value = '']) => ({
    name,
    value: value.trim(),
    comment: commentText(comment),
  }));
}

/** Fields of an interface body with their whole types. An optional field's name ends with `?`. */
export function documentedFields(body: string): DocumentedName[] {
  const field =
    /((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?)\s*(?:readonly )?(\w+\??): ([^;{]+(?:\{[^}]*\}[^;{]*)?|\{[^}]*\}[^;{]*);/g;
  return [...body.matchAll(field)].map(([, comment = '', name = '', value = '']) => ({
    name,
    value: value.replace(/\s+/g, ' ').trim(),
    comment: commentText(comment),
  }));
}
