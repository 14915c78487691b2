/** Catalogues of the console: complete, with the same placeholders, and without texts that no page shows. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createElement, type FunctionComponent, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { consoleModule } from '../../harness/console/console-module.js';

const CONSOLE = fileURLToPath(new URL('../../../../console/', import.meta.url));

const { ACTIONS, HEADINGS, NAVIGATION, STATES } = await consoleModule<
  typeof import('../../../console/texts/catalogues/english-words.js')
>('texts/catalogues/english-words.ts');
const { SENTENCES } = await consoleModule<
  typeof import('../../../console/texts/catalogues/english-sentences.js')
>('texts/catalogues/english-sentences.ts');
const { COUNTED } = await consoleModule<
  typeof import('../../../console/texts/catalogues/english-counted.js')
>('texts/catalogues/english-counted.ts');
const { GERMAN } = await consoleModule<typeof import('../../../console/texts/catalogues/german.js')>(
  'texts/catalogues/german.ts',
);
const { INDONESIAN } = await consoleModule<typeof import('../../../console/texts/catalogues/indonesian.js')>(
  'texts/catalogues/indonesian.ts',
);
const { KOREAN } = await consoleModule<typeof import('../../../console/texts/catalogues/korean.js')>(
  'texts/catalogues/korean.ts',
);
const { CHINESE } = await consoleModule<typeof import('../../../console/texts/catalogues/chinese.js')>(
  'texts/catalogues/chinese.ts',
);
const { chooseLanguage, formatTag } =
  await consoleModule<typeof import('../../../console/texts/languages.js')>('texts/languages.ts');
interface Sentence {
  text: string;
  parts: Readonly<Record<string, ReactElement>>;
  values?: Readonly<Record<string, string>>;
}

const { RichText } = await consoleModule<{ RichText: FunctionComponent<Sentence> }>('texts/rich-text.tsx');
const { counted, NAMESPACE, t, texts, translated } =
  await consoleModule<typeof import('../../../console/texts/translate.js')>('texts/translate.ts');

const WORDS: readonly string[] = [...NAVIGATION, ...STATES, ...ACTIONS, ...HEADINGS];
const COUNTED_KEYS = [...new Set(Object.keys(COUNTED).map(withoutForm))];
const ENGLISH = new Set<string>([...WORDS, ...SENTENCES, ...COUNTED_KEYS]);

/** `{{count}} hosts_one` is a form of `{{count}} hosts`. */
function withoutForm(key: string): string {
  return key.replace(/_(zero|one|two|few|many|other)$/, '');
}

/** Placeholders and tags. A translation may put them in another order. A singular may have no number: `once`. */
function marks(text: string): string[] {
  return [...new Set(text.match(/\{\{\w+\}\}|<\/?\w+\/?>/g))].filter((mark) => mark !== '{{count}}').sort();
}

for (const [language, catalogue] of [
  ['de', GERMAN],
  ['id', INDONESIAN],
  ['ko', KOREAN],
  ['zh-Hans', CHINESE],
] as const) {
  describe(`the catalogue ${language}`, () => {
    const entries = Object.entries(catalogue);

    test('has every word of navigation, states, actions and headings', () => {
      assert.deepEqual(
        WORDS.filter((word) => !catalogue[word as keyof typeof catalogue]?.trim()),
        [],
      );
    });

    test('has no text that English lacks', () => {
      const unknown = entries.filter(([key]) => !ENGLISH.has(key) && !ENGLISH.has(withoutForm(key)));
      assert.deepEqual(unknown, []);
    });

    test('has the placeholders and elements of the English texts', () => {
      const differing = entries.filter(
        ([key, text]) => marks(withoutForm(key)).join() !== marks(text).join(),
      );
      assert.deepEqual(differing, []);
    });

    test('has the plural forms of the language for each counted text that it has', () => {
      const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
      const present = new Set(entries.map(([key]) => withoutForm(key)));
      const missing = COUNTED_KEYS.filter((key) => present.has(key)).flatMap((key) =>
        forms.map((form) => `${key}_${form}`).filter((key) => !Object.hasOwn(catalogue, key)),
      );
      assert.deepEqual(missing, []);
    });
  });
}

test('each English word occurs in the source of a page', () => {
  const source = readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('texts/'))
    .map((path) => readFileSync(join(CONSOLE, path), 'utf8'))
    .join('\n');
  // Quotes, because `Name` is a part of many identifiers. States and verbs of Kubernetes are values of its types.
  const isUsed = (text: string) =>
    [`'${text.replaceAll("'", "\\'")}'`, `"${text}"`].some((quoted) => source.includes(quoted));
  const fromTypes = ['NotReady', 'paused', 'frozen', 'Warning'];
  assert.deepEqual(
    WORDS.filter((word) => !isUsed(word) && !fromTypes.includes(word) && !isVerb(word)),
    [],
  );

  /** The palette writes verbs with a capital. */
  function isVerb(word: string): boolean {
    return isUsed(word.toLowerCase());
  }
});

describe('a text', () => {
  test('takes the form of its number and falls back to English', async () => {
    texts.addResourceBundle('de', NAMESPACE, GERMAN);
    assert.deepEqual([counted('{{count}} hosts', 1), counted('{{count}} hosts', 2)], ['1 host', '2 hosts']);
    await texts.changeLanguage('de');
    assert.deepEqual([counted('{{count}} hosts', 1), t('Sign out')], ['1 Host', 'Abmelden']);
    assert.equal(counted('{{count}} hosts may start again.', 2), '2 hosts may start again.');
    assert.equal(t('{{seconds}} s ahead', { seconds: 3 }), '3 s ahead');
    await texts.changeLanguage('en');
  });

  test('from the API is shown as it is', async () => {
    await texts.changeLanguage('de');
    const given = ['CrashLoopBackOff', 'bad {{count}} $t(Cancel)', 'toString', ''];
    assert.deepEqual(given.map(translated), given);
    assert.equal(t('Host {{name}}', { name: '$t(Cancel) {{x}}' }), 'Host $t(Cancel) {{x}}');
    await texts.changeLanguage('en');
  });
});

describe('a sentence with elements', () => {
  const html = (props: Sentence) => renderToStaticMarkup(createElement(RichText, props));

  test('keeps the words in a tag, and the content of an element that stands alone', () => {
    const parts = {
      policy: createElement('b', null, 'gentle'),
      to: createElement('a', { href: '/calendar' }),
    };
    assert.equal(
      html({ text: '{{when}} of <policy/>, see the <to>Schedule</to>', parts, values: { when: 'now' } }),
      'now of <b>gentle</b>, see the <a href="/calendar">Schedule</a>',
    );
  });

  test('has no tag whose content the library drops', () => {
    const empty = /<(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)>/;
    assert.deepEqual(
      [...ENGLISH].filter((text) => empty.test(text)),
      [],
    );
  });
});

test('the language is the stored one, or the first of the browser that exists', () => {
  for (const [stored, preferred, chosen] of [
    ['ko', ['de-DE'], 'ko'],
    [null, ['de-AT', 'en'], 'de'],
    ['klingon', ['fr', 'zh-CN'], 'zh-Hans'],
    [null, ['zh'], 'zh-Hans'],
    [null, ['zh-TW', 'ko'], 'ko'],
    [null, ['in-ID'], 'id'],
    [null, ['not a tag', 'fr'], 'en'],
    [null, [], 'en'],
  ] as const)
    assert.equal(chooseLanguage(stored, preferred), chosen, `${stored} ${preferred}`);
});

test('times are written as in the country of the browser, if it has the language', () => {
  assert.equal(formatTag('en', ['de', 'en-GB', 'en-US']), 'en-GB');
  assert.equal(formatTag('zh-Hans', ['zh-TW', 'zh-SG']), 'zh-SG');
  assert.equal(formatTag('de', ['en-US']), 'de');
});
