/** A sentence with elements in it, such as a link. A translation can move them. */
import type { ComponentType, ReactElement } from 'react';
import { Trans } from 'react-i18next/TransWithoutContext';
import type { Text } from './catalogues/catalogue.js';
import { texts } from './translate.js';

interface RichTextProps {
  text: Text;
  /**
   * The elements by their tag in the text: `to` for `<to>all jobs</to>`. A tag must not be an HTML element without
   * content: the library would drop the words in `<link>`.
   */
  parts: Readonly<Record<string, ReactElement>>;
  values?: Readonly<Record<string, string | number>>;
}

/** The library's own types compute every combination of keys and values, which the compiler gives up on. */
const Sentence = Trans as ComponentType<{
  i18n: typeof texts;
  i18nKey: string;
  components: RichTextProps['parts'];
  values: RichTextProps['values'];
}>;

export function RichText({ text, parts, values = {} }: RichTextProps) {
  return <Sentence i18n={texts} i18nKey={text} components={parts} values={values} />;
}
