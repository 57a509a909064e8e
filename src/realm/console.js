/* SPDX-License-Identifier: MIT */
/*
 * console - the common methods of a console. Each sends one line of text, or a few, to
 * the worker.
 *
 * Only `natives.emit(level, text)` leaves the realm. Evaluates to a function of
 * (natives, inspect); its value is the console object.
 */
(function (natives, inspect) {
  'use strict';
  const { emit, frames, kind, clock } = natives;
  const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { isArray } = Array;
  const { stringify } = JSON;
  const { parseInt: toInteger, parseFloat: toFloat, Number: toNumber, String: toText } = globalThis;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const repeat = uncurry(String.prototype.repeat);
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const mapDelete = uncurry(Map.prototype.delete);
  const toFixed = uncurry(Number.prototype.toFixed);
  const capture = Error.captureStackTrace;
  const objectToString = Object.prototype.toString;
  const DEBUG = 0, LOG = 1, INFO = 2, WARN = 3, ERROR = 4; /* gbx_log_level */
  const counts = new Map(), starts = new Map();
  const PLAIN = { __proto__: null };
  let indent = '';

  /* True for errors, dates, and objects with a toString() other than the built-in ones. */
  function hasOwnText(value) {
    const type = kind(value);
    if (type === 'Error' || type === 'Date') return true;
    for (let at = value; at !== null; at = getPrototypeOf(at)) {
      if (kind(at) === 'Proxy') return false;
      const own = getOwnPropertyDescriptor(at, 'toString');
      if (own !== undefined)
        return typeof own.value === 'function' && own.value !== objectToString &&
          getOwnPropertyDescriptor(at, 'bind') === undefined && !isArray(at);
    }
    return false;
  }

  function asString(value) {
    if (typeof value === 'bigint') return `${value}n`;
    if (value === 0 && 1 / value < 0) return '-0';
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
      const type = kind(value);
      if (typeof value !== 'function' && (type === 'Error' || !hasOwnText(value)))
        return inspect(value, { __proto__: null, depth: 0 });
    }
    return toText(value);
  }

  function asNumber(value, convert) {
    if (typeof value === 'bigint') return `${convert === toFloat ? toText(value) : value}n`;
    if (typeof value === 'symbol') return 'NaN';
    const number = convert(value);
    return number === 0 && 1 / number < 0 ? '-0' : toText(number);
  }

  function asJSON(value) {
    try {
      return toText(stringify(value));
    } catch (error) {
      return '[Circular]';
    }
  }

  function directive(letter, value) {
    switch (letter) {
      case 's': return asString(value);
      case 'd': return asNumber(value, toNumber);
      case 'i': return asNumber(value, toInteger);
      case 'f': return asNumber(value, toFloat);
      case 'j': return asJSON(value);
      case 'o': return inspect(value, { __proto__: null, depth: 4, hidden: true });
      case 'O': return inspect(value, PLAIN);
      case 'c': return '';
      default: return undefined;
    }
  }

  /* The first argument's directives consume the following ones; the rest is appended
   * after spaces. */
  function format(args) {
    let next = 0, out = '';
    if (args.length > 1 && typeof args[0] === 'string') {
      const template = args[0];
      let from = 0;
      next = 1;
      for (let at = indexOf(template, '%'); at >= 0 && at + 1 < template.length;) {
        const letter = template[at + 1];
        let shown;
        if (letter === '%') shown = '%';
        else if (next < args.length) {
          shown = directive(letter, args[next]);
          if (shown !== undefined) next++;
        }
        if (shown !== undefined) {
          out += slice(template, from, at) + shown;
          from = at + 2;
        }
        at = indexOf(template, '%', at + (shown !== undefined || letter !== '%' ? 2 : 1));
      }
      out += slice(template, from);
    }
    for (let i = next; i < args.length; i++) {
      if (i > 0) out += ' ';
      out += typeof args[i] === 'string' ? args[i] : inspect(args[i], PLAIN);
    }
    return out;
  }

  function indented(text) {
    if (indent === '') return text;
    let out = indent, from = 0;
    for (let at = indexOf(text, '\n'); at >= 0; at = indexOf(text, '\n', from)) {
      out += slice(text, from, at + 1) + indent;
      from = at + 1;
    }
    return out + slice(text, from);
  }

  function write(level, args) {
    let line;
    try {
      line = format(args);
    } catch {
      line = '[arguments that cannot be shown]';
    }
    emit(level, indented(line));
  }

  /* Spread syntax would call the guest's Array.prototype iterator. */
  function prepend(first, args) {
    const all = [first];
    for (let i = 0; i < args.length; i++) all[i + 1] = args[i];
    return all;
  }

  function label(name) {
    return name === undefined ? 'default' : asString(name);
  }

  function elapsed(name, rest, drop) {
    const start = mapGet(starts, name);
    if (start === undefined) {
      write(WARN, [`Warning: No such label '${name}' for console.time${drop ? 'End' : 'Log'}()`]);
      return;
    }
    const ms = clock() - start;
    const shown = ms >= 1000 ? `${toFixed(ms / 1000, 3)}s` : `${toFixed(ms, 3)}ms`;
    write(LOG, prepend('%s', prepend(`${name}: ${shown}`, rest)));
    if (drop) mapDelete(starts, name);
  }

  /* ---- console.table ---------------------------------------------------- */

  function cell(value) {
    return inspect(value, { __proto__: null, depth: 0 });
  }

  function drawTable(head, rows) {
    const widths = [];
    for (let c = 0; c < head.length; c++) {
      widths[c] = head[c].length + 2;
      for (let r = 0; r < rows.length; r++)
        if (rows[r][c].length + 2 > widths[c]) widths[c] = rows[r][c].length + 2;
    }
    const rule = (left, cross, right) => {
      let out = left;
      for (let c = 0; c < widths.length; c++)
        out += repeat('\u2500', widths[c]) + (c + 1 < widths.length ? cross : right);
      return out;
    };
    const line = (cells) => {
      let out = '\u2502';
      for (let c = 0; c < widths.length; c++) {
        out += ` ${cells[c]}${repeat(' ', widths[c] - cells[c].length - 1)}\u2502`;
      }
      return out;
    };
    let out = `${rule('\u250c', '\u252c', '\u2510')}\n${line(head)}\n${rule('\u251c', '\u253c', '\u2524')}\n`;
    for (let r = 0; r < rows.length; r++) out += `${line(rows[r])}\n`;
    return out + rule('\u2514', '\u2534', '\u2518');
  }

  function table(data, columns) {
    const head = ['(index)'], found = { __proto__: null };
    const rows = [];
    let values = false;
    const names = ownKeys(data);
    for (let i = 0; i < names.length && rows.length < 1000; i++) {
      const own = getOwnPropertyDescriptor(data, names[i]);
      if (typeof names[i] !== 'string' || !own.enumerable) continue;
      const row = { __proto__: null, index: names[i], cells: { __proto__: null } };
      if (typeof own.value === 'object' && own.value !== null && kind(own.value) !== 'Proxy') {
        const keys = isArray(columns) ? columns : ownKeys(own.value);
        for (let k = 0; k < keys.length; k++) {
          const inner = getOwnPropertyDescriptor(own.value, keys[k]);
          if (typeof keys[k] !== 'string' || (inner !== undefined && !inner.enumerable)) continue;
          if (found[keys[k]] === undefined && head.length < 100) {
            found[keys[k]] = true;
            head[head.length] = keys[k];
          }
          if (inner !== undefined) row.cells[keys[k]] = cell(inner.value);
        }
      } else {
        values = true;
        row.value = cell(own.value);
      }
      rows[rows.length] = row;
    }
    const lines = [];
    for (let r = 0; r < rows.length; r++) {
      const cells = [rows[r].index];
      for (let c = 1; c < head.length; c++) cells[c] = rows[r].cells[head[c]] ?? '';
      if (values) cells[head.length] = rows[r].value ?? '';
      lines[r] = cells;
    }
    if (values) head[head.length] = 'Values';
    return drawTable(head, lines);
  }

  return {
    log(...args) {
      write(LOG, args);
    },
    info(...args) {
      write(INFO, args);
    },
    warn(...args) {
      write(WARN, args);
    },
    error(...args) {
      write(ERROR, args);
    },
    debug(...args) {
      write(DEBUG, args);
    },
    trace(...args) {
      const at = { __proto__: null };
      capture(at);
      const stack = frames(at.stack);
      const head = args.length > 0 ? `Trace: ${format(args)}` : 'Trace';
      emit(ERROR, indented(stack === '' ? head : `${head}\n${stack}`));
    },
    dir(value, options) {
      let depth = 2;
      if (typeof options === 'object' && options !== null) {
        const own = getOwnPropertyDescriptor(options, 'depth');
        if (own !== undefined && own.value === null) depth = 100;
        else if (own !== undefined && typeof own.value === 'number') depth = own.value;
      }
      emit(LOG, indented(inspect(value, { __proto__: null, depth })));
    },
    table(data, columns) {
      if (typeof data !== 'object' || data === null || kind(data) === 'Proxy') write(LOG, [data]);
      else emit(LOG, indented(table(data, columns)));
    },
    assert(condition, ...args) {
      if (condition) return;
      if (typeof args[0] === 'string') {
        args[0] = `Assertion failed: ${args[0]}`;
        write(WARN, args);
      } else write(WARN, prepend('Assertion failed', args));
    },
    count(name) {
      const key = label(name);
      const n = (mapGet(counts, key) ?? 0) + 1;
      mapSet(counts, key, n);
      write(LOG, [`${key}: ${n}`]);
    },
    countReset(name) {
      mapDelete(counts, label(name));
    },
    group(...args) {
      if (args.length > 0) write(LOG, args);
      if (indent.length < 100) indent += '  ';
    },
    groupCollapsed(...args) {
      if (args.length > 0) write(LOG, args);
      if (indent.length < 100) indent += '  ';
    },
    groupEnd() {
      indent = slice(indent, 2);
    },
    time(name) {
      mapSet(starts, label(name), clock());
    },
    timeLog(name, ...rest) {
      elapsed(label(name), rest, false);
    },
    timeEnd(name) {
      elapsed(label(name), [], true);
    },
  };
})
