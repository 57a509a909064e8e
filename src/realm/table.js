/* SPDX-License-Identifier: MIT */
/*
 * table - reads CSV: an array with one object per record. The first pass finds the type of
 * each column, the second makes the records.
 *
 * RFC 4180 and common variants: any single delimiter, lines that end in LF, CRLF or CR,
 * blanks around a cell (ignored), empty lines (skipped), no line break at the end.
 * Ambiguous text is refused, with its place: a quote inside a cell that did not begin with
 * one, text after a closing quote, a quote that is never closed.
 *
 * The first record names the columns. A column has integers, decimals or booleans if all
 * its non-empty cells are of that type; otherwise its cells stay text, unchanged. An empty
 * cell is null, quoted or not.
 *
 * Evaluates to a function of
 *   text
 *   delimiter  '' to guess it
 *   extent     0: all of it; 1: without a last record that has no end, if it alone is at
 *              fault; 2: also if more text could continue it
 *   skip       lines before the table
 *   noHeader   the first record is one like the others
 *   skipsBad   malformed records are left out
 * that returns { rows } or { message, line, column }. rows.isCut is true if a record was left out
 * at the end, rows.skipped the number of malformed ones; rows.columns has the names if there are
 * no records.
 */
(text, delimiter, extent, skip, noHeader, skipsBad) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { defineProperty } = Object;
  const COLUMNS_MAX = 4096; // more than any spreadsheet has
  const NAME_MAX = 1024;
  const WORDS_MAX = 65536;
  const WAITING_MAX = 8192;
  const [TAB, LF, CR, BLANK, QUOTE, MINUS, POINT, ZERO] = [9, 10, 13, 32, 34, 45, 46, 48];

  /** isInside: the rest of the record was not read; isOpen: because a quote is not closed. */
  const fault = (at, message, isInside = false, isOpen = false) => ({ at, message, isInside, isOpen });

  /** The line and the column of an offset, from 1; the column in characters. */
  const placeOf = (at) => {
    let line = 1;
    let start = 0;
    for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', start)) {
      start = next + 1;
      line++;
    }
    let column = 1;
    for (; start < at; start++) column += (text.charCodeAt(start) & 0xfc00) === 0xdc00 ? 0 : 1;
    return { line, column };
  };

  // ---- records and cells ----------------------------------------------------------

  /**
   * Reads the records of a text one by one, from `at` on. Keeps only the offsets of cells, since
   * most need no string of their own.
   */
  const readerOf = (text, delimiter, at) => {
    const { length } = text;
    const between = delimiter.charCodeAt(0);
    const begins = []; // of the cells of the last record
    const from = []; // without blanks and quotes around it
    const to = [];
    const hasQuotes = []; // inside, each written twice
    const isBlank = (c) => (c === BLANK || c === TAB) && c !== between;
    const endsCell = (c) => c === between || c === LF || c === CR;

    const skipBlanks = () => {
      while (at < length && isBlank(text.charCodeAt(at))) at++;
    };

    const skipLineEnd = () => {
      if (at < length && text.charCodeAt(at) === CR) at++;
      if (at < length && text.charCodeAt(at) === LF) at++;
    };

    const quoted = (i) => {
      const open = at;
      let next = open + 1;
      let close = text.indexOf('"', next);
      for (; close >= 0 && text.charCodeAt(close + 1) === QUOTE; close = text.indexOf('"', next)) next = close + 2;
      if (close < 0) throw fault(open, 'this quote is never closed', true, true);
      at = close + 1;
      skipBlanks();
      if (at < length && !endsCell(text.charCodeAt(at)))
        throw fault(at, 'text after a closing quote: a quote inside a quoted cell is written twice', true);
      from[i] = open + 1;
      to[i] = close;
      hasQuotes[i] = next > open + 1;
    };

    const plain = (i) => {
      from[i] = at;
      for (; at < length; at++) {
        const c = text.charCodeAt(at);
        if (endsCell(c)) break;
        if (c === QUOTE)
          throw fault(at, 'a quote inside a cell that does not begin with one: quote the cell, and write the quote twice', true);
      }
      let end = at;
      while (end > from[i] && isBlank(text.charCodeAt(end - 1))) end--;
      to[i] = end;
      hasQuotes[i] = false;
    };

    return {
      begins,
      from,
      to,
      get at() {
        return at;
      },

      /** Continues at an offset, or on the line after it. */
      goTo(offset) {
        at = offset;
      },
      goToLineAfter(offset) {
        at = offset;
        while (at < length && text.charCodeAt(at) !== LF && text.charCodeAt(at) !== CR) at++;
        skipLineEnd();
      },

      /** Skips empty lines. False if no record is left. */
      more() {
        for (;;) {
          const start = at;
          skipBlanks();
          if (at === length) return false;
          const c = text.charCodeAt(at);
          if (c !== LF && c !== CR) {
            at = start;
            return true;
          }
          skipLineEnd();
        }
      },

      /** Reads the next record. Returns the number of its cells, or throws a fault. */
      read() {
        for (let count = 0; ; at++) {
          begins[count] = at;
          skipBlanks();
          if (at < length && text.charCodeAt(at) === QUOTE) quoted(count);
          else plain(count);
          count++;
          if (at === length || text.charCodeAt(at) !== between) {
            skipLineEnd();
            return count;
          }
        }
      },

      cell(i) {
        const cell = text.slice(from[i], to[i]);
        return hasQuotes[i] ? cell.replaceAll('""', '"') : cell;
      },
    };
  };

  // ---- the delimiter, and where the text is whole -----------------------------------

  let start = 0; // of the table

  /** A score: how evenly the delimiter splits the first records. */
  const evenness = (delimiter) => {
    const part = text.slice(start, start + 65536);
    const reader = readerOf(part, delimiter, 0);
    let width = 0;
    let even = 0;
    let records = 0;
    try {
      while (records < 20 && reader.more()) {
        const cells = reader.read();
        if (start + part.length < text.length && reader.at === part.length) break; // unfinished
        if (records++ === 0) width = cells;
        even += cells === width ? 1 : 0;
      }
    } catch {
      // The reader of all records will report it.
    }
    return width < 2 ? 0 : Math.floor(even * 64 / records) * 64 + Math.min(width, 63);
  };

  /**
   * The delimiter that splits most evenly. Others win ties with the comma, which also occurs in
   * numbers and names. The comma is the default.
   */
  const guessDelimiter = () => {
    let best = ',';
    let most = 0;
    for (const candidate of ['\t', ';', '|', ',']) {
      const score = evenness(candidate);
      if (score > most) [most, best] = [score, candidate];
    }
    return best;
  };

  let separator;

  const skipLines = () => {
    const reader = readerOf(text, ',', 0);
    for (let n = 0; n < skip; n++) reader.goToLineAfter(reader.at);
    start = reader.at;
  };

  /** A first line "sep=;", as spreadsheets write it, names the delimiter if the caller did not. */
  const findDelimiter = () => {
    const [line = '', named] = /^sep=([^"\r\n])\r?\n/.exec(text.slice(start, start + 8)) ?? [];
    start += line.length;
    separator = delimiter || named || guessDelimiter();
  };

  const open = () => readerOf(text, separator, start);

  /** The length without a last record that more text could continue. */
  const finished = () => {
    const reader = open();
    let width = 0;
    while (reader.more()) {
      const start = reader.at;
      let cells;
      try {
        cells = reader.read();
      } catch ({ isOpen }) {
        return isOpen ? start : text.length;
      }
      width ||= cells;
      if (reader.at === text.length) return cells > width || /[\r\n]$/.test(text.slice(-1)) ? text.length : start;
    }
    return text.length;
  };

  // ---- kinds of cells -----------------------------------------------------------------

  /*
   * A value is a number only if the text is exactly how that number would be written, so
   * that nothing is lost. Leading zeros, a plus sign, digits that a double cannot hold, and
   * dates make it text.
   */
  const INTEGER = 1; // at most 15 digits: each has its own double
  const DECIMAL = 2; // survives reading and writing, except for a zero before its point
  const BOOLEAN = 4; // true or false, in any case
  const TEXT = 8;
  const POWER = 16; // 12e4: a decimal, or a name
  const THOUSANDS = 32; // 1.234: a decimal, or a whole number in groups
  const DECIMALS = /^-?(?:0|[1-9]\d*)?\.\d+$/;
  const GROUPS = /^-?[1-9]\d{0,2}\.\d{3}$/;
  const NUMBERS = /^-?(0|[1-9]\d*)?(?:\.(\d+))?(?:[eE]([+-]?)\d+)?$/;

  /** The digits of a number without zeros at the ends, and its power of ten. */
  const digitsOf = (number) => {
    const [mantissa, exponent = '0'] = number.replace(/^-/, '').toLowerCase().split(/e(.*)/s);
    const [whole, fraction = ''] = mantissa.split('.');
    const digits = (whole + fraction).replace(/^0+/, '');
    const power = digits.length - fraction.length + Number(exponent);
    return digits === '' ? '0' : `${digits.replace(/0+$/, '')}e${power}`;
  };

  const isKept = (cell) => digitsOf(cell) === digitsOf(`${Number(cell)}`);

  const isDigit = (c) => c >= 48 && c <= 57;

  const kindOfNumber = (cell) => {
    if (cell.length <= 15 && DECIMALS.test(cell)) return GROUPS.test(cell) ? THOUSANDS : DECIMAL;
    const [is, whole, fraction, sign] = NUMBERS.exec(cell) ?? [];
    if (is === undefined || (whole === undefined && fraction === undefined)) return TEXT;
    if (fraction === undefined && sign === undefined) return TEXT; // too many digits
    if (!isKept(cell)) return TEXT;
    return fraction === undefined && sign === '' && cell[0] !== '-' ? POWER : DECIMAL;
  };

  /** The kind of a cell that is not empty. The first characters decide for most. */
  const kindOf = (reader, i) => {
    const first = reader.from[i];
    const end = reader.to[i];
    const c = text.charCodeAt(first);
    let at = first + (c === MINUS ? 1 : 0);
    if (!isDigit(c) && c !== MINUS && c !== POINT)
      return end - first <= 5 && /^(?:true|false)$/i.test(text.slice(first, end)) ? BOOLEAN : TEXT;
    const isPadded = end - at > 1 && text.charCodeAt(at) === ZERO;
    const digits = at;
    while (at < end && isDigit(text.charCodeAt(at))) at++;
    if (at < end || at === digits) return kindOfNumber(text.slice(first, end));
    return isPadded || end - digits > 15 ? TEXT : INTEGER;
  };

  /**
   * If ; is the delimiter, a comma is probably the decimal point, and 1.234 means thousands.
   * It is a decimal only if another cell shows that a point is a decimal point here.
   */
  const settleThousands = (columns) => {
    const hasPoints = separator !== ';' || columns.some(({ kinds }) => kinds & DECIMAL && !(kinds & TEXT));
    for (const column of columns)
      if (hasPoints && column.kinds & THOUSANDS) column.kinds = column.kinds & ~THOUSANDS | DECIMAL;
  };

  /**
   * True if the cells of a column with these kinds are numbers. Possible names count as numbers
   * if other cells are certainly decimals. Possible groups of thousands do not.
   */
  const areNumbers = (kinds) =>
    (kinds & ~(INTEGER | DECIMAL | POWER)) === 0 && ((kinds & POWER) === 0 || (kinds & DECIMAL) !== 0);

  // ---- the table ------------------------------------------------------------------

  /** Unique names: "column_3" for an empty one, "name_3" for a duplicate. */
  const columnsOf = (reader) => {
    if (!reader.more()) throw fault(skip > 0 ? start : 0, `the first line${noHeader ? '' : ', which names the columns,'} is missing`);
    const first = reader.at;
    const count = reader.read();
    const columns = [];
    const taken = new Set();
    for (let i = 0; i < count; i++) {
      if (i === COLUMNS_MAX) throw fault(reader.begins[i], `there are more than ${COLUMNS_MAX} columns`);
      if (!noHeader && reader.to[i] - reader.from[i] > NAME_MAX)
        throw fault(reader.begins[i], `the name of a column is longer than ${NAME_MAX} characters`);
      const name = noHeader ? '' : reader.cell(i);
      let own = name;
      for (let n = i + 1; own === '' || taken.has(own); n++) own = `${name || 'column'}_${n}`;
      taken.add(own);
      columns.push({ name: own, kinds: 0, isNumber: false });
    }
    if (noHeader) reader.goTo(first);
    return columns;
  };

  const lookAt = (reader, columns) => {
    const start = reader.at;
    const count = reader.read();
    const { length } = columns;
    const has = noHeader ? 'has' : 'names';
    if (count > length) throw fault(reader.begins[length], `more cells than the ${length} that the first line ${has}`);
    if (count < length) throw fault(start, `${count} cell${count === 1 ? '' : 's'} where the first line ${has} ${length}`);
    for (let i = 0; i < length; i++)
      if (reader.from[i] < reader.to[i] && !(columns[i].kinds & TEXT)) columns[i].kinds |= kindOf(reader, i);
  };

  /*
   * A cell's string is a part of the text, scattered among garbage. A call runs in a new process,
   * which pays for each page that it touches. So cells get strings of their own, close together,
   * and equal cells share one.
   */
  const words = new Map(); // a string, or while it is new its place in `fresh`
  let fresh = [];
  let waiting = []; // for those: row, name, place
  const putWord = (row, name, cell) => {
    let word = words.get(cell);
    if (word === undefined) {
      word = fresh.push(cell) - 1;
      if (words.size < WORDS_MAX) words.set(cell, word);
    }
    if (typeof word === 'string') row[name] = word;
    else waiting.push(row, name, word);
  };

  const settleWords = () => {
    const own = parse(stringify(fresh));
    for (let i = 0; i < waiting.length; i += 3) waiting[i][waiting[i + 1]] = own[waiting[i + 2]];
    for (let i = 0; i < own.length; i++) if (words.has(own[i])) words.set(own[i], own[i]);
    fresh = [];
    waiting = [];
  };

  /** A cell's number, without making a string if 15 digits and a power of ten are exact. */
  const numberOf = (reader, i) => {
    const first = reader.from[i];
    const end = reader.to[i];
    const isMinus = text.charCodeAt(first) === MINUS;
    let n = 0;
    let power = 0; // of the digits behind the point
    for (let at = first + (isMinus ? 1 : 0); at < end; at++) {
      const c = text.charCodeAt(at);
      if (isDigit(c)) n = n * 10 + c - ZERO;
      else if (c === POINT && end - first <= 16) power = 10 ** (end - at - 1);
      else return Number(reader.cell(i));
    }
    if (isMinus) n = -n;
    return power === 0 ? n : n / power;
  };

  const putCell = (reader, i, { name, kinds, isNumber }, row) => {
    const length = reader.to[i] - reader.from[i];
    if (name === '__proto__') defineProperty(row, name, { value: null, writable: true, enumerable: true, configurable: true });
    else row[name] = null; // in this order
    if (length === 0) return;
    if (isNumber) row[name] = numberOf(reader, i);
    else if (kinds === BOOLEAN) row[name] = length === 4;
    else putWord(row, name, reader.cell(i));
  };

  /** Looks at all records. Returns where malformed ones begin, and where to continue. */
  const lookAtAll = (reader, columns) => {
    const bad = new Map();
    while (reader.more()) {
      const { at } = reader;
      try {
        lookAt(reader, columns);
      } catch (error) {
        if (!skipsBad || !('at' in error)) throw error;
        if (error.isInside) reader.goToLineAfter(at);
        bad.set(at, reader.at);
      }
    }
    return bad;
  };

  const rowsOf = () => {
    const first = open();
    const columns = columnsOf(first);
    const rows = [];
    const begin = first.at;
    const bad = lookAtAll(first, columns);
    settleThousands(columns);
    for (const column of columns) column.isNumber = areNumbers(column.kinds);
    const second = open();
    second.goTo(begin);
    while (second.more()) {
      const row = {};
      if (bad.has(second.at)) {
        second.goTo(bad.get(second.at));
        continue;
      }
      second.read();
      for (let i = 0; i < columns.length; i++) putCell(second, i, columns[i], row);
      rows.push(row);
      if (waiting.length >= WAITING_MAX) settleWords();
    }
    settleWords();
    if (rows.length === 0) defineProperty(rows, 'columns', { value: columns.map(({ name }) => name) });
    if (bad.size > 0) defineProperty(rows, 'skipped', { value: bad.size });
    return rows;
  };

  /** Cuts off what may be unfinished. False if that is nothing, or all. */
  const cut = (whole) => {
    const end = finished();
    if (end === 0 || end === whole.length) return false;
    text = whole.slice(0, end);
    return true;
  };

  const decode = () => {
    if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    const whole = text;
    const nul = text.indexOf('\0');
    if (nul >= 0) throw fault(nul, 'a NUL character: this is not text');
    skipLines();
    findDelimiter();
    let isCut = extent === 2 && !/[\r\n]$/.test(text.slice(-1)) && cut(whole);
    let rows;
    try {
      rows = rowsOf();
    } catch (error) {
      if (extent === 0 || isCut || !cut(whole)) throw error;
      isCut = true;
      try {
        rows = rowsOf();
      } catch {
        text = whole;
        throw error;
      }
    }
    if (isCut) defineProperty(rows, 'isCut', { value: true });
    return rows;
  };

  try {
    return { rows: decode() };
  } catch (error) {
    return 'at' in error ? { message: error.message, ...placeOf(error.at) } : { message: `${error}` };
  } finally {
    /(?:)/.test(''); // clears RegExp.$1 and the like, which code could read
  }
}
