#!/usr/bin/env node
/**
 * Fails when the comments of a folder, or a document, fall back into language that readers could not follow.
 *   node test/plain-english.mjs [--list] [PATH…]     without paths: every folder and every document of the project
 * It counts phrases that were typical of unclear comments, sentences without a subject and very long sentences, per 1,000 words.
 * A low rate proves nothing about a text. A high rate has always meant that readers had to look at the code.
 * `npm run lint` runs it. Plain JavaScript, because it checks a tree that need not compile.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** Phrases per 1,000 words that a folder or a document may have. */
const LIMIT = 5;
/** Below this size one phrase would exceed the limit. */
const SMALLEST_TEXT = 200;
const LONGEST_SENTENCE = 35;
const SOURCE = /(?<!\.d)\.(ts|tsx|mjs|js)$/;
const FOLDERS = ['coordinator', 'agent', 'shared', 'console', 'test'];

/** Each phrase with what to write instead. */
const PHRASES = [
  [/\b(?:anew)\b/i, 'again'],
  [/\b(?:whoever|whomever|whom|nobody|somebody)\b/i, 'name the caller, the user, the controller'],
  [/\b(?:whatever|whose)\b/i, 'name the thing, or use "of"'],
  [/\bfor want of\b/i, 'without'],
  [/\bin vain\b/i, 'without success, failed'],
  [/\b(?:to |can |could )be had\b/i, 'available'],
  [/\b(?:under way|on its way)\b/i, 'in progress'],
  [/\bas upstream\b/i, 'like kube-controller-manager (with the path), like a kubelet'],
  [/\b(?:stands|stood)\b(?! for)/i, 'is stored, is current, exists'],
  [/\b(?:tells?|told|telling|hears?|heard|unheard)\b/i, 'reports, sends, receives: programs do not talk'],
  [/\b(?:mend|mends|mended|mending)\b/i, 'fix, repair'],
  [/\b(?:lets? in|sent away|gives? up|given up)\b/i, 'admit, reject, stop retrying'],
  [/\b(?:goes on|going on|begun)\b/i, 'continues, started'],
  [/\b(?:last words)\b/i, 'termination message'],
  [/\b(?:any more|no more)\b/i, 'no longer'],
  [/\bfor good\b/i, 'permanently'],
  [/\bbeside\b/i, 'next to, concurrently'],
  [/\b(?:a moment|at that moment)\b/i, 'name the duration or the event'],
  [/\b(?:all the same|has its say|its own accord)\b/i, 'say what happens'],
  [/\b(?:those that|those who|that of)\b/i, 'repeat the noun'],
  [/\b(?:dark)\b(?! theme| mode| desk|-)/i, 'offline, unreachable'],
  [/\bpretend(?:s|ed|ing)?\b/i, 'simulate'],
  [/\b(?:look again|looked at|looks? at)\b/i, 'reconcile, read, check'],
  [/\b(?:save for|but for|wherein|thereby)\b/i, 'except, where'],
  [/\b(?:is|are) to (?:be|go|have|come)\b/i, 'must, will, should'],
];
/** A sentence that begins with a relative clause or a pronoun has no subject to hold on to. */
const NO_SUBJECT =
  /(?:^|[.:;!?] )(?:One (?:that|who|which|of|with|without|in|is|may)\b|What (?!is this|if|it means|follows)|Who\b|That which\b|Those\b|Of (?:a|an|the|what|these)\b)/;

function* filesBelow(path) {
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) {
    if (name !== 'node_modules' && name !== 'dist') yield* filesBelow(join(path, name));
  }
}

/** The comments of a source file, each with its line. String literals are matched too, so that a `//` inside one is no comment. */
function commentsOf(text) {
  const token =
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/g;
  return [...text.matchAll(token)]
    .filter(([found]) => found.startsWith('/'))
    .map((match) => ({
      line: text.slice(0, match.index).split('\n').length,
      prose: match[0].replace(/^[ \t]*(?:\/\*+|\*+\/|\*|\/\/)/gm, ' ').replace(/\*\/$/, ''),
    }));
}

/** The paragraphs and table rows of a document, without its code. */
function paragraphsOf(text) {
  const bare = text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '));
  return [...bare.matchAll(/[^\n]+(?:\n(?![\n|#>*-]|\d+\.)[^\n]+)*/g)].map((match) => ({
    line: bare.slice(0, match.index).split('\n').length,
    prose: match[0],
  }));
}

/** Every problem of one comment or paragraph, as sentences. The length is judged for each cell of a table row. */
function problemsOf(prose) {
  const found = PHRASES.flatMap(([phrase, instead]) =>
    [...prose.matchAll(new RegExp(phrase, 'gi'))].map(([words]) => `"${words}": ${instead}`),
  );
  const sentences = prose.split(/(?<=[.:;!?])\s/);
  for (const sentence of sentences) {
    if (NO_SUBJECT.test(sentence)) found.push('a sentence without a subject: name it');
    if (sentence.split(' | ').some((cell) => cell.split(' ').length > LONGEST_SENTENCE))
      found.push(`over ${LONGEST_SENTENCE} words: write two sentences`);
  }
  return found;
}

function judge(path) {
  const result = { words: 0, problems: [] };
  for (const file of filesBelow(path)) {
    const isDocument = extname(file) === '.md';
    if (!isDocument && !SOURCE.test(file)) continue;
    const text = readFileSync(file, 'utf8');
    for (const { line, prose } of isDocument ? paragraphsOf(text) : commentsOf(text)) {
      const plain = prose
        .replace(/`[^`\n]*`/g, 'x')
        .replace(/\s+/g, ' ')
        .trim();
      result.words += plain.split(' ').filter((word) => /[a-z]/i.test(word)).length;
      for (const problem of problemsOf(plain)) result.problems.push({ file, line, problem });
    }
  }
  return result;
}

function main(args) {
  const isListing = args.includes('--list');
  const named = args.filter((each) => !each.startsWith('--')).map((each) => resolve(each));
  const documents = [...filesBelow(join(ROOT, 'docs'))].filter((file) => file.endsWith('.md'));
  const atRoot = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const all = [...FOLDERS, ...atRoot].map((name) => join(ROOT, name)).filter((path) => existsSync(path));
  let failed = 0;
  for (const path of named.length > 0 ? named : [...all, ...documents]) {
    const { words, problems } = judge(path);
    const rate = words === 0 ? 0 : (1000 * problems.length) / words;
    const isOver = words >= SMALLEST_TEXT && rate > LIMIT;
    if (isOver) failed += 1;
    if (isListing || isOver) {
      for (const { file, line, problem } of problems)
        process.stdout.write(`${relative(ROOT, file)}:${line}: ${problem}\n`);
    }
    if (isListing || isOver || named.length > 0) {
      process.stdout.write(`${relative(ROOT, path)}: ${rate.toFixed(1)} per 1,000 words (limit ${LIMIT})\n`);
    }
  }
  return failed > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
