/* SPDX-License-Identifier: MIT */
/*
 * discover - finds tools of upstream servers, and lists them with as much detail as
 * requested, for a model or for code.
 *
 * Evaluates to a function of the object of declarations.js. It returns
 *   rank(docs, query)  the docs that fit, best first: standard BM25, a word in a name counts
 *                      as much as three elsewhere; without words, all docs in their order
 *   find(query, docs)  the value of discover() for code
 *   text(query, docs)  the answer of the tool discover
 *   declare(docs)      as in declarations.js
 * A doc is { server, tool, mark }: the tool as its server lists it, and what the rules will
 * do unless they simply allow a call. A query is { words, server, tool, detail }, each ''
 * if it was not given.
 */
({ declare, declareTool, summary, isByCall, escaped }) => {
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const own = (object, name) => (isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined);

  /* ---- words --------------------------------------------------------------- */

  const WORD_MAX = 64; // letters; longer words keep the beginning
  const STOPS = new Set(('A AN AND ARE AS AT BE BY CAN DO DOES FOR FROM HAS HAVE HOW I IF IN INTO IS IT ITS ' +
    'ME MY OF ON OR OUR SO THAT THE THEIR THEM THERE THESE THEY THIS THOSE TO WAS WE WHAT WHEN WHERE WHICH ' +
    'WHO WHY WILL WITH YOU YOUR').split(' '));

  /* Letters of scripts without spaces between words. */
  const DENSE = `(?:${['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
    .map((script) => `\\p{Script=${script}}`).join('|')}|ー)`;
  const DENSE_ONLY = new RegExp(`^${DENSE}`, 'u');
  const RUNS = new RegExp(`${DENSE}+|(?:(?!${DENSE}|[_-]{2})[^])+`, 'gu');

  /* read|Text|File, HTTP|Server, read_text */
  const BORDERS = /[_-]|(?<=[^\p{Lu}\p{Lt}])(?=[\p{Lu}\p{Lt}])|(?<=[\p{Lu}\p{Lt}])(?=[\p{Lu}\p{Lt}]\p{Ll})/u;

  /* "files" and "file" become one word; "status" and "class" lose nothing important. */
  function stem(text) {
    if (text.length > 4 && text.endsWith('IES')) return `${text.slice(0, -3)}Y`;
    return text.length > 3 && /[^S]S$/.test(text) ? text.slice(0, -1) : text;
  }

  const toWord = (text, isDense) => ({
    text: isDense ? text : stem(text.slice(0, WORD_MAX)), isDense, isStop: STOPS.has(text),
  });

  /*
   * The words of a text without spaces, in upper case. The text is split where a reader would
   * split it: readTextFile, read_text_file and read-text-file give the same three. The
   * joined word follows them, since GitHub is also written github. Scripts without spaces
   * give overlapping pairs of letters; a single letter is a word.
   */
  function cut(text) {
    return (text.match(RUNS) ?? []).flatMap((run) => {
      if (DENSE_ONLY.test(run)) {
        const letters = [...run];
        const pairs = letters.slice(1).map((letter, i) => letters[i] + letter);
        return (pairs.length > 0 ? pairs : letters).map((pair) => toWord(pair, true));
      }
      const parts = run.split(BORDERS).filter((part) => part !== '').map((part) => part.toUpperCase());
      return (parts.length > 1 ? [...parts, parts.join('')] : parts).map((part) => toWord(part, false));
    });
  }

  /* Each text without spaces is read once: tools repeat the same words, and the first run of
   * a script is slow. */
  const known = new Map();

  function wordsOf(text) {
    const words = [];
    for (const whole of text.match(/[\p{L}\p{N}\p{M}_-]+/gu) ?? []) {
      let parts = known.get(whole);
      if (parts === undefined) known.set(whole, parts = cut(whole));
      words.push(...parts);
    }
    return words;
  }

  /* ---- ranking ------------------------------------------------------------- */

  const TERMS_MAX = 24;
  const TEXT_MAX = 16384; // characters of one description that are read
  const MEMBERS_MAX = 64;
  const K1 = 1.2;
  const B = 0.75;
  const NEAR_WEIGHT = 0.1; // low, so that the word itself ranks first

  /* Minimum length of a prefix: if it is a word of the query, and if it is one of a tool, of
   * which there are many. */
  const BEGINNING_MIN = 3;
  const REMAINDER_MIN = 4;

  /* Words such as "the" and "of" count only if the query has nothing else. */
  function termsOf(query) {
    const words = wordsOf(query.slice(0, TEXT_MAX));
    const telling = words.filter(({ isStop }) => !isStop);
    const terms = new Map((telling.length > 0 ? telling : words).map((word) => [word.text, word]));
    return [...terms.values()].slice(0, TERMS_MAX);
  }

  const begins = (text, start) => text.length > start.length && text.startsWith(start);

  /* "repo" and "repository" are near each other; so are a Chinese letter and its pairs. */
  function isNear(term, word) {
    if (word.isStop || term.isDense !== word.isDense) return false;
    if (term.isDense) return [...term.text].length === 1 && word.text.includes(term.text);
    return (term.text.length >= BEGINNING_MIN && begins(word.text, term.text)) ||
      (word.text.length >= REMAINDER_MIN && begins(term.text, word.text));
  }

  /* The texts of a tool, with the weight of each word. */
  function textsOf({ server, tool }) {
    const members = Object.entries(own(own(tool, 'inputSchema'), 'properties') ?? {}).slice(0, MEMBERS_MAX);
    return [
      [server, 1], [own(tool, 'name'), 3], [own(tool, 'title'), 1], [own(tool, 'description'), 1],
      ...members.flatMap(([name, member]) => [[name, 1], [own(member, 'description'), 0.5]]),
    ].filter(([text]) => typeof text === 'string');
  }

  /* How often the terms and words near them are in one tool. */
  function countsOf(doc, terms) {
    const counts = { of: terms.map(() => 0), near: terms.map(() => 0), length: 0 };
    for (const [text, weight] of textsOf(doc)) {
      for (const word of wordsOf(text.slice(0, TEXT_MAX))) {
        counts.length += weight;
        for (let i = 0; i < terms.length; i++) {
          if (terms[i].text === word.text) counts.of[i] += weight;
          else if (isNear(terms[i], word)) counts.near[i] += weight;
        }
      }
    }
    return counts;
  }

  /* From 0 to K1 + 1: repetitions count less and less, as do words of a long text. */
  const weigh = (times, length) => (times * (K1 + 1)) / (times + K1 * (1 - B + B * length));

  function rank(docs, query) {
    const terms = termsOf(query);
    if (terms.length === 0) return docs;
    const counts = docs.map((doc) => countsOf(doc, terms));
    const mean = counts.reduce((sum, { length }) => sum + length, 0) / docs.length;
    const rarity = terms.map((_, i) => {
      const having = counts.filter(({ of }) => of[i] > 0).length ||
        counts.filter(({ near }) => near[i] > 0).length;
      return Math.log(1 + (docs.length - having + 0.5) / (having + 0.5));
    });
    return docs
      .map((doc, place) => {
        const { of, near, length } = counts[place];
        const score = terms.reduce((sum, _, i) => sum + rarity[i] *
          (weigh(of[i], length / mean) + NEAR_WEIGHT * weigh(near[i], length / mean)), 0);
        return { doc, score };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ doc }) => doc);
  }

  /* ---- what fits a query --------------------------------------------------- */

  const FOUND_MAX = 20; // tools that code or a model gets
  const TYPES_MAX = 8; // tools whose declarations a model gets
  const SUMMARY_MAX = 120;
  const SHOWN_MEMBERS_MAX = 12;
  const SERVERS_MAX = 20; // suggested when nothing fits

  const matching = ({ words, tool }, docs) => rank(docs.filter((doc) => {
    const name = own(doc.tool, 'name');
    return typeof name === 'string' && (tool === '' || name === tool);
  }), words);

  const nameOf = (tool) => escaped(tool.name);

  function find(query, docs) {
    const found = matching(query, docs);
    return (query.words === '' ? found : found.slice(0, FOUND_MAX)).map(({ server, tool, mark }) => ({
      server, tool: tool.name, summary: summary(tool, 160),
      ...(mark !== '' && { approval: mark }),
      ...(query.detail === 'types' && { types: declareTool(tool) }),
    }));
  }

  /* ---- as text ------------------------------------------------------------- */

  function byServer(docs) {
    const servers = new Map();
    for (const doc of docs) {
      if (!servers.has(doc.server)) servers.set(doc.server, []);
      servers.get(doc.server).push(doc);
    }
    return [...servers];
  }

  const marked = ({ mark }) => (mark === '' ? '' : ` (${mark})`);

  /* One line per server; after a search one line per tool, best first. */
  function namesText(docs, isSearch) {
    if (isSearch) return docs.map((doc) => `${doc.server}.${nameOf(doc.tool)}${marked(doc)}\n`).join('');
    return byServer(docs).map(([server, tools]) =>
      `${server}: ${tools.map((doc) => nameOf(doc.tool) + marked(doc)).join(', ')}\n`).join('');
  }

  /* files.read_text_file({path, head?, tail?}) - Read a file. */
  function summaryLine(doc) {
    const { server, tool } = doc;
    const schema = own(tool, 'inputSchema');
    const properties = own(schema, 'properties');
    const names = isObject(properties) ? Object.keys(properties) : [];
    const required = own(schema, 'required');
    const members = names.slice(0, SHOWN_MEMBERS_MAX).map((name) =>
      escaped(name) + (Array.isArray(required) && required.includes(name) ? '' : '?'));
    /* A schema composed of others has members that are not listed. */
    const isComposed = ['$ref', 'allOf', 'oneOf', 'anyOf'].some((keyword) => own(schema, keyword) !== undefined);
    if (isComposed || names.length > SHOWN_MEMBERS_MAX) members.push('...');
    const call = isByCall(tool.name) ? `call("${nameOf(tool)}", ` : `${nameOf(tool)}(`;
    return `${server}.${call}{${members.join(', ')}})${marked(doc)} - ${summary(tool, SUMMARY_MAX)}\n`;
  }

  const typesText = (docs) => declare(docs) +
    docs.filter(({ mark }) => mark !== '').map((doc) => `[${doc.server}.${nameOf(doc.tool)}${marked(doc)}]\n`).join('');

  /* Nothing matches: say what exists, by server. */
  function nothingText({ words }, docs) {
    const servers = words === '' ? [] : byServer(docs);
    if (servers.length === 0) return 'No tool is known.\n';
    const named = servers.slice(0, SERVERS_MAX).map(([server, tools]) => `${tools.length} of ${server}`);
    const more = servers.length - named.length;
    return `No tool fits; there are ${named.join(', ')}${more > 0
      ? `, and those of ${more} more servers` : ''}. Without a query all are listed.\n`;
  }

  function detailOf({ words, server, tool, detail }) {
    if (detail !== '') return detail;
    if (tool !== '') return 'types';
    return words !== '' || server !== '' ? 'summary' : 'names';
  }

  function text(query, docs) {
    const detail = detailOf(query), isSearch = query.words !== '';
    const all = matching(query, docs);
    const found = isSearch ? all.slice(0, detail === 'types' ? TYPES_MAX : FOUND_MAX) : all;
    const rest = found.length < all.length
      ? `[the best ${found.length} of ${all.length} that fit; narrow the query]\n` : '';
    if (found.length === 0) return nothingText(query, docs);
    if (detail === 'types') return typesText(found) + rest;
    if (detail === 'names') return namesText(found, isSearch) + rest;
    return found.map(summaryLine).join('') + rest;
  }

  return { rank, find, text, declare };
}
