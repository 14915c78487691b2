/** Types of the catalogues. */
import type { COUNTED } from './english-counted.js';
import type { SENTENCES } from './english-sentences.js';
import type { ACTIONS, HEADINGS, NAVIGATION, STATES } from './english-words.js';

/** The texts that every language has. */
type Word = (typeof NAVIGATION | typeof STATES | typeof ACTIONS | typeof HEADINGS)[number];

export type Text = Word | (typeof SENTENCES)[number];

/** A text with one form for each plural category of the language. */
export type Counted = keyof typeof COUNTED extends `${infer Key}_one` | `${infer Key}_other` ? Key : never;

/** The library adds the plural category to the key. */
type Form = `${Counted}_${Intl.LDMLPluralRule}`;

/** A language other than English. */
export type Catalogue = Readonly<
  Record<Word, string> & Partial<Record<Exclude<Text, Word>, string>> & Partial<Record<Form, string>>
>;
