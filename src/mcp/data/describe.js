/* SPDX-License-Identifier: MIT */
/*
 * describe - what a model learns about a dataset: a TypeScript type, the size, three
 * examples, and statistics of each field. A worker runs it on the dataset as code sees it.
 *
 * Names, kinds and counts are always shown. Letters and digits of values are not, unless
 * the owner of the data allows it: a pattern replaces them. Everything is bounded.
 *
 * Evaluates to a function of (data, options):
 *   options  { examples: 'patterns', 'values' or 'none'; shown: paths of fields whose values
 *              may be shown, '' for all; records: how many elements of an array to describe,
 *              evenly spread; isTable: data has the rows of a table; columns: names of the
 *              columns of a query without rows; room: characters for the type; brief: the same
 *              for a short one, and for the examples; isWhole: describe everything, as a text }
 *   returns  { type, brief, size, names, examples, fields, lost }; names: of the fields, on
 *              one line; lost: index in shown of the first path without a field, or -1
 */
(data, options) => {
  const NODES_MAX = 2048;
  const FIELDS_MAX = 512; // of one object; more: a map
  const COLUMNS_MAX = 4096; // of a table, whose names are never keys of a map
  const ALIKE_MAX = 20; // records of one form in an object; more: a map, too
  const DEPTH_MAX = options.isWhole ? 64 : 6;
  const DISTINCT_MAX = 10000;
  const TOP_MAX = 20;

  // ---- values at one place --------------------------------------------------------

  // A name that is data: it has an '@', or more digits than a month, "2024-05".
  const isKey = (name) => name.includes('@') || (name.match(/[0-9]/g)?.length ?? 0) > 6;

  // "2024-05-01", with or without a time, a fraction of a second and a zone, and nothing
  // else, because the first and the last date of a field may be shown.
  const DATE = new RegExp(
    '^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])' +
    '(?:[T ](?:[01]\\d|2[0-4]):[0-5]\\d(?::(?:[0-5]\\d|60)(?:[.,]\\d{1,9})?)?' +
    '(?: ?(?:Z|UTC|[+-](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?))?)?$'
  );

  const isDay = (text) => {
    const [year, month, day] = text.slice(0, 10).split('-').map(Number);
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    return date.getUTCDate() === day;
  };

  const takeDate = (node, text) => {
    const { dates } = node;
    const hasForm = text.charCodeAt(4) === 0x2d && DATE.test(text);
    let at = hasForm ? Date.parse(text) : NaN;
    if (hasForm && Number.isNaN(at)) { // code must rewrite it, too
      at = Date.parse(text.replace(',', '.').replace(/([+-]\d\d)$/, '$1:00'));
      dates.foreign = true;
    }
    if (Number.isNaN(at) || (text.slice(8, 10) > '28' && !isDay(text))) {
      node.dates = null;
      return;
    }
    if (!(at >= dates.from)) {
      dates.from = at;
      dates.first = text;
    }
    if (!(at <= dates.to)) {
      dates.to = at;
      dates.last = text;
    }
  };

  const takeNumber = (node, n) => {
    const isWhole = Number.isInteger(n) && Math.abs(n) < 1e21; // written without exponent
    if (!Number.isFinite(n)) {
      node.kinds.number = true;
      node.infinite++;
      return;
    }
    node.kinds[isWhole ? 'integer' : 'number'] = true;
    node.unsafe += isWhole && !Number.isSafeInteger(n) ? 1 : 0;
    node.min = n < node.min ? n : node.min;
    node.max = n > node.max ? n : node.max;
    node.sum += n;
    node.numbers++;
  };

  const countValue = (counts, value) => {
    const count = counts.get(value);
    if (count === undefined && counts.size === DISTINCT_MAX) {
      return false;
    }
    counts.set(value, (count ?? 0) + 1);
    return true;
  };

  const newNode = (count) => ({
    count, nulls: 0, kinds: {}, objects: 0, elements: 0,
    numbers: 0, infinite: 0, unsafe: 0, sum: 0, min: Infinity, max: -Infinity,
    dates: { foreign: false, from: NaN, to: NaN, first: '', last: '' }, distinct: 0, hasMoreDistinct: false, top: null,
    fields: new Map(), hasMore: false, isMap: false,
    keyed: null, key: '', element: null,
  });

  const isRecord = (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);

  // Take the values that are not containers; returns those that are.
  const takeScalars = (node, values) => {
    if (values.every(isRecord)) { // without a copy
      node.kinds.object = values.length > 0;
      node.dates = null;
      return [values, []];
    }
    const objects = [], arrays = [], counts = new Map();
    let isCounting = true;
    for (const value of values) {
      if (value === null) {
        node.nulls++;
        continue;
      }
      if (typeof value === 'object') {
        (Array.isArray(value) ? arrays : objects).push(value);
        continue;
      }
      if (typeof value === 'number') {
        takeNumber(node, value);
      } else {
        node.kinds[typeof value] = true;
        if (node.dates !== null && typeof value === 'string') {
          takeDate(node, value);
        }
      }
      isCounting &&= countValue(counts, value);
    }
    node.distinct = counts.size;
    node.hasMoreDistinct = !isCounting;
    if (isCounting && counts.size > 0 && counts.size <= TOP_MAX) {
      node.top = [...counts].sort((a, b) => b[1] - a[1]);
    }
    node.kinds.null = node.nulls > 0;
    node.kinds.object = objects.length > 0;
    node.kinds.array = arrays.length > 0;
    if (!node.kinds.string || node.numbers > 0 || node.kinds.boolean ||
      objects.length > 0 || arrays.length > 0) {
      node.dates = null;
    }
    return [objects, arrays];
  };

  // ---- places ---------------------------------------------------------------------

  const nodesMax = NODES_MAX + (options.isTable ? COLUMNS_MAX : 0);
  const fieldsMax = options.isTable ? COLUMNS_MAX : FIELDS_MAX;
  let nodes = 0;

  const valuesOf = (objects, name) => {
    const mayInherit = name in Object.prototype;
    const values = new Array(objects.length);
    let count = 0;
    for (const object of objects) {
      const value = object[name];
      if (value !== undefined && (!mayInherit || Object.hasOwn(object, name))) {
        values[count++] = value;
      }
    }
    values.length = count;
    return values;
  };

  // The names of fields, at most one more than there may be; and the values under names
  // that are data. Most records have the names of the one before, in the same order.
  const namesOf = (objects) => {
    const names = new Set(), keys = [], values = [];
    let last = [];
    for (const object of objects) {
      const own = Object.keys(object);
      if (own.length === last.length && own.every((name, i) => name === last[i])) {
        continue;
      }
      last = own;
      for (const name of own) {
        if (isKey(name)) {
          keys.push(name);
          values.push(object[name]);
          last = [];
        } else if (!names.has(name) && names.add(name).size > fieldsMax) {
          return { names, keys, values };
        }
      }
    }
    return { names, keys, values };
  };

  // The field names of a record, or of the first one in an array; null if there are none. An
  // object that is keyed by row numbers is not a record.
  const recordNames = (value) => {
    const record = Array.isArray(value) ? value.find((one) => one !== null) : value;
    const names = isRecord(record) ? Object.keys(record) : [];
    return names.length === 0 || /^[0-9]/.test(names[0]) ? null : names;
  };

  // Are the members records with nearly the same fields?
  const areAlike = (objects, names) => {
    const forms = [];
    for (const name of names) {
      const value = valuesOf(objects, name).find((one) => one !== null);
      const form = value === undefined ? null : recordNames(value);
      if (form === null) {
        return false;
      }
      forms.push(form);
      if (forms.length === ALIKE_MAX) {
        break;
      }
    }
    const fullest = new Set(forms.reduce((a, b) => (b.length > a.length ? b : a)));
    const all = forms.flat();
    return all.filter((name) => fullest.has(name)).length * 4 >= all.length * 3;
  };

  const takeObjects = (node, objects, depth) => {
    node.objects = objects.length;
    if (objects.length === 0 || depth === DEPTH_MAX) {
      return;
    }
    const { names, keys, values } = namesOf(objects);
    node.isMap = names.size > fieldsMax ||
      (names.size > ALIKE_MAX && areAlike(objects, names));
    if (node.isMap) {
      node.keyed = place(objects.flatMap((object) => Object.values(object)), depth + 1);
      return;
    }
    for (const name of names) {
      const field = place(valuesOf(objects, name), depth + 1);
      if (field === null) {
        node.hasMore = true;
        break;
      }
      node.fields.set(name, field);
    }
    if (keys.length > 0) {
      [node.key] = keys;
      node.keyed = place(values, depth + 1);
      node.hasMore ||= node.keyed === null;
    }
  };

  const takeArrays = (node, arrays, depth) => {
    node.elements = arrays.reduce((sum, array) => sum + array.length, 0);
    if (node.elements > 0 && depth < DEPTH_MAX) {
      node.element = place(arrays.length === 1 ? arrays[0] : arrays.flat(), depth + 1);
    }
  };

  // Describe all values at one place together: all elements of an array, or all members
  // of one name. null: there are too many places.
  const place = (values, depth) => {
    if (nodes === nodesMax) {
      return null;
    }
    nodes++;
    const node = newNode(values.length);
    const [objects, arrays] = takeScalars(node, values);
    takeObjects(node, objects, depth);
    takeArrays(node, arrays, depth);
    return node;
  };

  // ---- what may be shown ----------------------------------------------------------

  // A path consists of names of fields only: elements of arrays and members of maps have the
  // path of their container.
  const restOf = (path, name) =>
    name !== '' && path.startsWith(name) && (path[name.length] ?? '.') === '.'
      ? path.slice(name.length + 1)
      : null;

  const below = (at, name) => {
    if (at.isShown || at.paths.length === 0) {
      return at;
    }
    const paths = at.paths.map((path) => restOf(path, name)).filter((rest) => rest !== null);
    return { isShown: paths.includes(''), paths };
  };

  const leadsSomewhere = (node, path) => {
    if (node === null || path === '') {
      return node !== null;
    }
    for (const [name, field] of node.fields) {
      const rest = restOf(path, name);
      if (rest !== null && leadsSomewhere(field, rest)) {
        return true;
      }
    }
    return leadsSomewhere(node.element, path) || leadsSomewhere(node.keyed, path);
  };

  // ---- texts of the data ----------------------------------------------------------

  const NAME_CHARS = 48;
  const EXAMPLE_CHARS = 48;
  const VALUE_CHARS = 64;

  const pattern = (text) =>
    text.replace(/[a-z]|[^\0-\x7f]/gu, 'x').replace(/[A-Z]/g, 'X').replace(/[0-9]/g, '0');

  // The first characters, and a mark if there are more.
  const cut = (text, max) => {
    const chars = [...text.slice(0, 2 * max + 2)];
    return chars.length > max ? [chars.slice(0, max).join(''), '…'] : [text, ''];
  };

  const quote = (text, max, isShown) => {
    const [begin, end] = cut(text, max);
    return JSON.stringify((isShown ? begin : pattern(begin)) + end);
  };

  const nameText = (name) =>
    name.length <= NAME_CHARS && /^[A-Za-z_$][\w$]*$/.test(name) && !isKey(name)
      ? name
      : quote(name, NAME_CHARS, !isKey(name));

  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
  const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

  // A text that begins no item beyond `room`; more() describes the items of a list left out.
  const writer = (room) => ({
    text: '',
    add(part) {
      this.text += part;
    },
    get isFull() {
      return this.text.length >= room;
    },
    addList(items, separator, put, more) {
      for (const [i, item] of items.entries()) {
        if (this.isFull) {
          this.add(more(items.length - i));
          return false;
        }
        this.add(i === 0 ? '' : separator);
        put(item);
      }
      return true;
    },
  });

  // ---- the type -------------------------------------------------------------------

  const CHOICES_MAX = 8;
  const CHOICE_OFTEN = 5;
  const CHOICE_CHARS = 24;

  const kindsOf = (node) =>
    ['null', 'boolean', 'integer', 'number', 'string', 'object', 'array']
      .filter((kind) => node.kinds[kind]);

  // A few values that occur often: a filter needs to know them.
  const isChoice = (node, at) =>
    at.isShown && node.top !== null && node.top.length <= CHOICES_MAX &&
    kindsOf(node).every((kind) => kind === 'string' || kind === 'null') &&
    node.top.every(([value, n]) => n >= CHOICE_OFTEN && value.length <= CHOICE_CHARS);

  const moreFields = (left) => `; /* and ${left} more fields */`;

  const putFields = (out, node, at) => {
    out.add('{ ');
    const isAll = out.addList([...node.fields], '; ', ([name, field]) => {
      out.add(`${nameText(name)}${field.count < node.objects ? '?: ' : ': '}`);
      putType(out, field, below(at, name));
    }, moreFields);
    out.add(node.hasMore && isAll ? '; /* and more fields */' : '');
    if (node.keyed !== null) {
      out.add(`${node.fields.size > 0 ? '; ' : ''}[key: string /* like `);
      out.add(`${nameText(node.key)} */]: `);
      putType(out, node.keyed, at);
    }
    out.add(' }');
  };

  const putObject = (out, node, at) => {
    if (node.isMap) {
      out.add('Record<string, ');
      if (node.keyed === null) {
        out.add('unknown');
      } else {
        putType(out, node.keyed, at);
      }
      out.add('>');
    } else if (node.fields.size === 0 && node.keyed === null) {
      out.add('object');
    } else {
      putFields(out, node, at);
    }
  };

  const putArray = (out, node, at) => {
    const { element } = node;
    if (element === null) {
      out.add(node.elements === 0 ? '[]' : 'array');
      return;
    }
    const kinds = kindsOf(element)
      .filter((kind) => kind !== 'integer' || !element.kinds.number);
    const isUnion = kinds.length > 1 || isChoice(element, at);
    out.add(isUnion ? '(' : '');
    putType(out, element, at);
    out.add(isUnion ? ')[]' : '[]');
  };

  // Notes warn of values that mislead a model: an id of 19 digits loses digits in code.
  const stringType = (node, at) => {
    if (isChoice(node, at)) {
      return node.top.map(([value]) => quote(value, CHOICE_CHARS, true)).join(' | ');
    }
    if (node.dates === null) {
      return 'string';
    }
    return node.dates.foreign
      ? 'string /* date that new Date() does not read */'
      : 'string /* ISO date */';
  };

  const numberType = (node) =>
    (node.kinds.number ? 'number' : 'integer') +
    (node.unsafe > 0 ? ' /* over 2^53: last digits may be lost */' : '') +
    (node.infinite > 0 ? ' /* over 1.8e308: Infinity */' : '');

  const putType = (out, node, at) => {
    const parts = [
      [node.kinds.object, () => putObject(out, node, at)],
      [node.kinds.array, () => putArray(out, node, at)],
      [node.kinds.string, () => out.add(stringType(node, at))],
      [node.kinds.integer || node.kinds.number, () => out.add(numberType(node))],
      [node.kinds.boolean, () => out.add('boolean')],
      [node.kinds.null, () => out.add('null')],
    ].filter(([is]) => is);
    parts.forEach(([, put], i) => {
      out.add(i === 0 ? '' : ' | ');
      put();
    });
    out.add(parts.length === 0 ? 'unknown' : '');
  };

  const columnsType = (names, room) => {
    const out = writer(room);
    out.add('{ ');
    out.addList(names, '; ', (name) => out.add(`${nameText(name)}: unknown`), moreFields);
    out.add(' }[]');
    return out.text;
  };

  // ---- the names ------------------------------------------------------------------

  const NAMES_CHARS = 600; // on one line
  const TABLE_CHARS = 120; // of one table among several

  const namesText = (names, room) => {
    const out = writer(room);
    out.addList(names, ', ', (name) => out.add(name), (left) => `, and ${left} more`);
    return out.text;
  };

  const fieldNames = (node, room) => namesText([...node.fields.keys()].map(nameText), room);

  // An object of lists of records, such as all tables of a database.
  const isTables = (node) => node.fields.size > 0 && node.keyed === null &&
    [...node.fields.values()].every(({ kinds, element }) =>
      kinds.array && !kinds.object && element !== null && element.fields.size > 0);

  const namesLine = (node, columns) => {
    if (columns !== undefined) {
      return namesText(columns.map(nameText), NAMES_CHARS);
    }
    if (isTables(node)) {
      return namesText([...node.fields].map(([name, { element }]) =>
        `${nameText(name)} (${fieldNames(element, TABLE_CHARS)})`), NAMES_CHARS);
    }
    const of = Array.isArray(data) || node.fields.size === 0 ? node.element ?? node.keyed : node;
    return of === null ? '' : fieldNames(of, NAMES_CHARS);
  };

  // ---- the size -------------------------------------------------------------------

  const SIZE_CHARS = 200;
  const WIDE = 100; // fields; if there are more, their number is given

  const sizeOf = (node) => {
    if (Array.isArray(data)) {
      const isRecords = node.element !== null && kindsOf(node.element).join() === 'object';
      const fields = node.element?.fields.size ?? 0;
      return plural(data.length, isRecords ? 'record' : 'element') +
        (fields > WIDE ? ` of ${count(fields)} fields` : '');
    }
    if (data === null || typeof data !== 'object') {
      return 'one value';
    }
    if (isTables(node)) {
      return `${plural(node.fields.size, 'table')}: ` + namesText([...node.fields].map(([name, table]) =>
        `${nameText(name)} (${plural(table.elements, 'record')})`), SIZE_CHARS);
    }
    const fields = plural(node.fields.size, 'field');
    if (node.keyed === null) {
      return `one object of ${fields}`;
    }
    const keys = plural(node.keyed.count, 'key');
    return node.fields.size > 0 ? `one object of ${fields} and ${keys}`
      : `one object, a map of ${keys}`;
  };

  // ---- examples -------------------------------------------------------------------

  const EXAMPLES = 3;
  const EXAMPLE_DEPTH = 4;
  const EXAMPLE_ELEMENTS = 3;
  const EXAMPLE_KEYS = 3;
  const NUMBER_CHARS = 24;

  // Mention how much was left out.
  const putLeft = (out, left, isFirst) => {
    out.add(left > 0 ? `${isFirst ? '' : ', '}/* ${left} more */` : '');
  };

  const putMembers = (out, object, node, at, depth) => {
    let listed = 0, keys = 0, left = 0;
    out.add('{');
    for (const name in object) {
      const field = node?.fields.get(name);
      if (out.isFull || (field === undefined && keys++ >= EXAMPLE_KEYS)) {
        left++;
        continue;
      }
      out.add(listed++ === 0 ? '' : ',');
      if (field !== undefined) {
        out.add(`${nameText(name)}:`);
        putExample(out, object[name], field, below(at, name), depth + 1);
      } else { // a few of these suffice
        out.add(`${quote(name, EXAMPLE_CHARS, at.isShown)}:`);
        putExample(out, object[name], node?.keyed, at, depth + 1);
      }
    }
    putLeft(out, left, listed === 0);
    out.add('}');
  };

  const putElements = (out, array, node, at, depth) => {
    let listed = 0;
    out.add('[');
    while (listed < EXAMPLE_ELEMENTS && listed < array.length && !out.isFull) {
      out.add(listed === 0 ? '' : ',');
      putExample(out, array[listed++], node?.element, at, depth + 1);
    }
    putLeft(out, array.length - listed, listed === 0);
    out.add(']');
  };

  const scalarExample = (value, at) => {
    if (typeof value === 'string') {
      return quote(value, EXAMPLE_CHARS, at.isShown);
    }
    if (value === null || at.isShown) {
      return String(value);
    }
    return typeof value === 'number'
      ? String(value).slice(0, NUMBER_CHARS).replace(/[0-9]/g, '9')
      : '/* boolean */';
  };

  const putExample = (out, value, node, at, depth) => {
    if (value === null || typeof value !== 'object') {
      out.add(scalarExample(value, at));
    } else if (depth === EXAMPLE_DEPTH) {
      out.add(Array.isArray(value) ? '[ /* ... */ ]' : '{ /* ... */ }');
    } else if (Array.isArray(value)) {
      putElements(out, value, node, at, depth);
    } else {
      putMembers(out, value, node, at, depth);
    }
  };

  const exampleText = (value, node, at, room) => {
    const out = writer(room);
    putExample(out, value, node, at, 0);
    return `${out.text}\n`;
  };

  const examplesOf = (node, at) => {
    if (options.examples === 'none') {
      return '';
    }
    return Array.isArray(data)
      ? data.slice(0, EXAMPLES)
        .map((one) => exampleText(one, node.element, at, options.brief / EXAMPLES))
        .join('')
      : exampleText(data, node, at, options.brief);
  };

  // ---- statistics -----------------------------------------------------------------

  const LISTED_MAX = COLUMNS_MAX + 1; // columns, and the table itself
  const LISTED_CHARS = 1500000; // beyond that no field is begun
  const PATH_CHARS = 512;

  // Round to the fewest digits that are exact to a thousandth of the range, and within it.
  const meanOf = (node) => {
    const exact = node.sum / node.numbers;
    const mean = Math.min(Math.max(exact, node.min), node.max);
    const near = node.max / 1000 - node.min / 1000;
    for (const digits of [6, 9, 12]) {
      const rounded = Number(mean.toPrecision(digits));
      if (rounded >= node.min && rounded <= node.max && Math.abs(rounded - mean) <= near) {
        return rounded;
      }
    }
    return mean;
  };

  const shownStatistics = (node) => {
    const texts = {};
    if (node.numbers > 0) {
      Object.assign(texts, { min: node.min, max: node.max, mean: meanOf(node) });
    }
    if (node.dates !== null) {
      texts.first = node.dates.first;
      texts.last = node.dates.last;
    }
    if (node.top !== null) {
      texts.top = node.top.map(([value, n]) => ({
        value: typeof value === 'string' ? cut(value, VALUE_CHARS).join('') : value,
        count: n,
      }));
    }
    return texts;
  };

  const statisticsOf = (node, field, of, at) => {
    const row = { field, kinds: kindsOf(node), count: node.count, nulls: node.nulls };
    if (of > node.count) {
      row.missing = of - node.count;
    }
    if (node.distinct > 0) {
      row[node.hasMoreDistinct ? 'distinctAtLeast' : 'distinct'] = node.distinct;
    }
    if (node.unsafe > 0) {
      row.unsafeIntegers = node.unsafe;
    }
    if (node.infinite > 0) {
      row.infinite = node.infinite;
    }
    if (node.kinds.array) {
      row.elements = node.elements;
    }
    return at.isShown ? Object.assign(row, shownStatistics(node)) : row;
  };

  const listing = { rows: [], chars: 0 };

  const list = (node, path, of, at) => {
    if (node === null || path.length > PATH_CHARS || listing.rows.length === LISTED_MAX ||
      listing.chars > LISTED_CHARS) {
      return;
    }
    if (path !== '') {
      const row = statisticsOf(node, path, of, at);
      listing.rows.push(row);
      listing.chars += JSON.stringify(row).length;
    }
    for (const [name, field] of node.fields) {
      list(field, `${path}${path === '' ? '' : '.'}${nameText(name)}`, node.objects,
        below(at, name));
    }
    list(node.keyed, `${path}[key]`, 0, at);
    list(node.element, `${path}[]`, 0, at);
  };

  // "total: number, count 50, distinct 50, min 0, ...", as much as fits.
  const listingText = (rows) => {
    const out = writer(options.room);
    out.addList(rows, '', ({ field, kinds, top, ...counts }) => {
      out.add(`${field}: ${kinds.join(' | ') || 'unknown'}`);
      for (const [name, value] of Object.entries(counts)) {
        out.add(name === 'nulls' && value === 0 ? '' : `, ${name} ${value}`);
      }
      out.add(top === undefined ? '\n' : `, values ${top.map((one) => `${JSON.stringify(one.value)} (${one.count})`).join(', ')}\n`);
    }, (left) => `and ${count(left)} more\n`);
    return out.text;
  };

  // ---- all of it ------------------------------------------------------------------

  const isSample = Array.isArray(data) && data.length > options.records;
  const step = isSample ? Math.ceil(data.length / options.records) : 1;
  const described = isSample ? data.filter((_, i) => i % step === 0) : data;
  const root = place([described], 0);
  const top = {
    isShown: options.examples === 'values' || options.shown.includes(''),
    paths: options.shown,
  };
  list(root, '', 0, top);
  const typeText = (room) => {
    const out = writer(room);
    putType(out, root, top);
    return out.text;
  };
  // The template sets these when it reads the data.
  const { columns = options.columns, isCut, skipped = 0 } = Array.isArray(data) ? data : {};
  const told = {
    type: columns === undefined ? typeText(options.room) : columnsType(columns, options.room),
    brief: columns === undefined ? typeText(options.brief) : columnsType(columns, options.brief),
    names: namesLine(root, columns),
    size: (columns === undefined ? sizeOf(root) : '0 records') +
      (isSample ? `, described by ${count(described.length)} of them` : '') +
      (isCut ? ', without a last line that has no end yet' : '') +
      (skipped > 0 ? `, without ${count(skipped)} malformed ${skipped === 1 ? 'record' : 'records'}` : ''),
    examples: examplesOf(root, top),
    fields: listing.rows,
    lost: options.shown.findIndex((path) => !leadsSomewhere(root, path)),
  };
  return options.isWhole
    ? `${told.size}\n\n${told.type}\n${told.examples === '' ? '' : `\nfor example\n${told.examples}`}` +
      `${listing.rows.length === 0 ? '' : `\n${listingText(listing.rows)}`}`
    : told;
}
