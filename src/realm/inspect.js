/* SPDX-License-Identifier: MIT */
/*
 * inspect - shows any value as text, in the format of Node's console.
 *
 * No code of the guest runs while a value is shown: properties are read through their
 * descriptors, accessors are named and not called, proxies are shown as their
 * target, types come from the engine's cell and not from anything that can be
 * patched. Only functions captured here are called.
 *
 * Evaluates to a function of (natives); its value is inspect(value, options).
 */
(function (natives) {
  'use strict';
  const { kind, unproxy, promise, frames, quote, typedArray } = natives;
  const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { isArray } = Array;
  const { floor, max, min, round, sqrt } = Math;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const padStart = uncurry(String.prototype.padStart);
  const padEnd = uncurry(String.prototype.padEnd);
  const repeat = uncurry(String.prototype.repeat);
  const codeAt = uncurry(String.prototype.charCodeAt);
  const symbolText = uncurry(Symbol.prototype.toString);
  const numberText = uncurry(Number.prototype.toString);
  const functionText = uncurry(Function.prototype.toString);
  const regexpText = uncurry(RegExp.prototype.toString);
  const dateValue = uncurry(Date.prototype.getTime);
  const dateText = uncurry(Date.prototype.toISOString);
  const mapEach = uncurry(Map.prototype.forEach);
  const setEach = uncurry(Set.prototype.forEach);
  const exec = uncurry(RegExp.prototype.exec);
  const boxed = {
    __proto__: null,
    Number: uncurry(Number.prototype.valueOf),
    String: uncurry(String.prototype.valueOf),
    Boolean: uncurry(Boolean.prototype.valueOf),
  };
  const wrapped = {
    __proto__: null,
    Symbol: uncurry(Symbol.prototype.valueOf),
    BigInt: uncurry(BigInt.prototype.valueOf),
  };
  const getter = (proto, name) => uncurry(getOwnPropertyDescriptor(proto, name).get);
  const mapSize = getter(Map.prototype, 'size');
  const setSize = getter(Set.prototype, 'size');
  const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
  const typedLength = getter(getPrototypeOf(Uint8Array.prototype), 'length');
  const viewLength = getter(DataView.prototype, 'byteLength');
  const viewOffset = getter(DataView.prototype, 'byteOffset');
  const viewBuffer = getter(DataView.prototype, 'buffer');
  const { Uint8Array: Bytes, String: text } = globalThis;
  const { toStringTag } = Symbol;
  const plainKey = /^[a-zA-Z_][a-zA-Z_0-9]*$/;

  const LINE = 80; /* the width that Node uses if it does not know the terminal's */
  const LEVELS = 3; /* this many inner levels may share one line */
  const ITEMS = 100;
  const KEYED = 10000; /* items of a list whose other properties are shown too */
  const STRING = 10000;
  const INNERS = 5, INNER = 160; /* errors of an AggregateError, and characters of each */
  const BUDGET = 2000000; /* characters of one value; more is useless in a log */

  function push(list, item) {
    list[list.length] = item;
  }

  function join(list, separator) {
    let all = '';
    for (let i = 0; i < list.length; i++) all += i === 0 ? list[i] : separator + list[i];
    return all;
  }

  /* The value that a read of the property would find; undefined for an accessor. */
  function find(object, name) {
    for (let at = object; at !== null; at = getPrototypeOf(at)) {
      at = bare(at);
      if (at === null) return undefined;
      const own = getOwnPropertyDescriptor(at, name);
      if (own !== undefined) return own.value;
    }
    return undefined;
  }

  /* The target of a proxy, through any number of them; null if one was revoked. */
  function bare(value) {
    while (kind(value) === 'Proxy') {
      value = unproxy(value);
      if (value === null) return null;
    }
    return value;
  }

  /* Name of the class; null without a prototype. */
  function className(object) {
    for (let at = getPrototypeOf(object); at !== null; at = getPrototypeOf(at)) {
      at = bare(at);
      if (at === null) return '';
      const own = getOwnPropertyDescriptor(at, 'constructor');
      if (own !== undefined && typeof own.value === 'function') {
        const name = find(own.value, 'name');
        if (typeof name === 'string' && name !== '') return name;
      }
      if (getOwnPropertyDescriptor(at, 'bind') !== undefined) return 'Function';
    }
    return null;
  }

  function number(value) {
    return value === 0 && 1 / value < 0 ? '-0' : numberText(value);
  }

  function prefix(name, fallback, tag, size) {
    let head = name === null ? `[${fallback}: null prototype]` : name;
    if (size !== undefined) head = name === null
      ? `[${fallback}(${size}): null prototype]` : `${name}(${size})`;
    if (tag !== '' && tag !== name) head += ` [${tag}]`;
    return `${head} `;
  }

  function showFunction(f) {
    const name = find(f, 'name');
    const source = functionText(f);
    if (slice(source, 0, 5) === 'class' && source[source.length - 1] === '}') {
      const parent = getPrototypeOf(f);
      const above = parent === null ? undefined : find(parent, 'name');
      let head = typeof name === 'string' && name !== '' ? `class ${name}` : 'class (anonymous)';
      if (parent === null) head += ' extends [null prototype]';
      else if (typeof above === 'string' && above !== '') head += ` extends ${above}`;
      return `[${head}]`;
    }
    const tag = find(f, toStringTag);
    const type = typeof tag === 'string' && tag !== '' ? tag : 'Function';
    return typeof name === 'string' && name !== '' ? `[${type}: ${name}]` : `[${type} (anonymous)]`;
  }

  function showString(ctx, value) {
    let tail = '';
    if (value.length > ctx.maxString) {
      const more = value.length - ctx.maxString;
      value = slice(value, 0, ctx.maxString);
      tail = `... ${more} more character${more > 1 ? 's' : ''}`;
    }
    if (value.length > 16 && value.length > LINE - ctx.indent - 4 && ctx.compact) {
      const lines = [];
      for (let from = 0; from < value.length;) {
        const end = indexOf(value, '\n', from);
        const to = end < 0 ? value.length : end + 1;
        push(lines, quote(slice(value, from, to)));
        from = to;
      }
      return join(lines, ` +\n${repeat(' ', ctx.indent + 2)}`) + tail;
    }
    return quote(value) + tail;
  }

  function showPrimitive(ctx, value) {
    switch (typeof value) {
      case 'string': return showString(ctx, value);
      case 'number': return number(value);
      case 'bigint': return `${value}n`;
      case 'symbol': return symbolText(value);
      default: return text(value);
    }
  }

  function headOf(error) {
    const message = find(error, 'message');
    let name = find(error, 'name');
    const own = className(error);
    if (typeof name !== 'string' || name === '') name = own ?? 'Error';
    if (name === 'Error' && own !== null && own !== '') name = own;
    return typeof message === 'string' && message !== '' ? `${name}: ${message}` : name;
  }

  function showError(ctx, error, keys) {
    const stack = find(error, 'stack');
    const head = headOf(error);
    const at = typeof stack === 'string' && !ctx.oneLine ? frames(stack) : '';
    let all = at === '' ? `[${head}]` : `${head}\n${at}`;
    if (ctx.indent > 0) {
      let moved = '';
      for (let i = 0; i < all.length; i++)
        moved += all[i] === '\n' ? `\n${repeat(' ', ctx.indent)}` : all[i];
      all = moved;
    }
    const hidden = ['cause', 'errors'];
    for (let i = 0; i < hidden.length; i++) {
      const found = getOwnPropertyDescriptor(error, hidden[i]);
      if (found !== undefined && !found.enumerable) push(keys, hidden[i]);
    }
    return all;
  }

  function showKey(key, enumerable) {
    if (typeof key === 'symbol') return `[${symbolText(key)}]`;
    if (!enumerable) return `[${key}]`;
    if (key === '__proto__') return "['__proto__']";
    return exec(plainKey, key) !== null ? key : quote(key);
  }

  function showProperty(ctx, object, key, depth, inArray) {
    const own = getOwnPropertyDescriptor(object, key);
    let shown;
    if (own === undefined) return '';
    if (own.get !== undefined) shown = own.set !== undefined ? '[Getter/Setter]' : '[Getter]';
    else if (own.set !== undefined) shown = '[Setter]';
    else {
      ctx.indent += 2;
      shown = show(ctx, own.value, depth);
      ctx.indent -= 2;
    }
    return inArray ? shown : `${showKey(key, own.enumerable)}: ${shown}`;
  }

  function isIndex(key) {
    return typeof key === 'string' && key !== '' && text(key >>> 0) === key;
  }

  function showItems(ctx, list, length, depth, output) {
    let holes = 0, shown = 0, i = 0;
    const flush = () => {
      if (holes > 0) {
        push(output, `<${holes} empty item${holes > 1 ? 's' : ''}>`);
        shown++;
      }
      holes = 0;
    };
    for (; i < length && shown < ITEMS; i++) {
      if (getOwnPropertyDescriptor(list, i) === undefined) {
        holes++;
        if (holes > 1000000) break;
        continue;
      }
      flush();
      if (shown >= ITEMS) break;
      push(output, showProperty(ctx, list, i, depth, true));
      shown++;
    }
    if (holes > 0 && i < length) {
      holes += length - i;
      i = length;
    }
    flush();
    more(output, length - i);
    return length - i > 0;
  }

  function more(output, left) {
    if (left > 0) push(output, `... ${left} more item${left > 1 ? 's' : ''}`);
  }

  function showEntries(ctx, value, each, size, depth, output) {
    let n = 0;
    ctx.indent += 2;
    each(value, (item, key) => {
      if (n++ >= ITEMS) return;
      const shown = show(ctx, item, depth);
      push(output, each === mapEach ? `${show(ctx, key, depth)} => ${shown}` : shown);
    });
    ctx.indent -= 2;
    more(output, size - ITEMS);
  }

  function showBuffer(ctx, buffer, output) {
    const bytes = new Bytes(buffer);
    const length = bufferLength(buffer);
    let hex = '';
    for (let i = 0; i < min(50, length); i++)
      hex += (i > 0 ? ' ' : '') + padStart(numberText(bytes[i], 16), 2, '0');
    if (length > 50) hex += ` ... ${length - 50} more byte${length > 51 ? 's' : ''}`;
    push(output, `[Uint8Contents]: <${hex}>`);
    push(output, `byteLength: ${length}`);
  }

  /*
   * Collects what to show of an object: base is text before the braces, open and
   * close are the braces, output the entries, keys the properties still to show.
   */
  function describe(ctx, value, type, name, tag, depth) {
    const keys = [];
    const size = typedArray(value) !== undefined ? typedLength(value)
      : isArray(value) || type === 'String' ? value.length : -1;
    const listed = size >= 0;
    /* The keys of a long list are as many strings: more memory than the list itself. */
    const all = size > KEYED ? [] : ownKeys(value);
    for (let i = 0; i < all.length; i++) {
      if (listed && isIndex(all[i])) continue;
      const own = getOwnPropertyDescriptor(value, all[i]);
      if (own !== undefined && (own.enumerable || (ctx.hidden && typeof all[i] === 'string')))
        push(keys, all[i]);
    }
    const d = { base: '', open: '{', close: '}', output: [], keys, array: false, cut: false };
    const plain = (fallback, size) => prefix(name, fallback, tag, size);

    if (isArray(value)) {
      d.open = name === 'Array' && tag === '' ? '[' : `${plain('Array', value.length)}[`;
      d.close = ']';
      d.array = true;
      if (value.length > 0)
        d.fill = () => { d.cut = showItems(ctx, value, value.length, depth, d.output); };
      return d;
    }
    if (typedArray(value) !== undefined) {
      const length = typedLength(value);
      d.open = `${prefix(name, typedArray(value), '', length)}[`;
      d.close = ']';
      d.array = true;
      if (length > 0)
        d.fill = () => { d.cut = showItems(ctx, value, length, depth, d.output); };
      return d;
    }
    if (typeof value === 'function') {
      d.base = showFunction(value);
      return d;
    }
    switch (type) {
      case 'Map':
        d.open = `${plain('Map', mapSize(value))}{`;
        if (mapSize(value) > 0)
          d.fill = () => showEntries(ctx, value, mapEach, mapSize(value), depth, d.output);
        break;
      case 'Set':
        d.open = `${plain('Set', setSize(value))}{`;
        if (setSize(value) > 0)
          d.fill = () => showEntries(ctx, value, setEach, setSize(value), depth, d.output);
        break;
      case 'Error': d.base = showError(ctx, value, keys); break;
      case 'Date':
        d.base = dateValue(value) === dateValue(value) ? dateText(value) : 'Invalid Date';
        if (name !== 'Date') d.base = plain('Date') + d.base;
        break;
      case 'RegExp':
        d.base = regexpText(value);
        if (name !== 'RegExp') d.base = plain('RegExp') + d.base;
        break;
      case 'Number': case 'Boolean': case 'String':
        d.base = `[${type}: ${showPrimitive({ ...ctx, compact: false }, boxed[type](value))}]`;
        break;
      case 'Promise':
        d.open = `${plain('Promise')}{`;
        d.fill = () => {
          const state = promise(value);
          if (state === undefined) return;
          if (state.status === 0) push(d.output, '<pending>');
          else push(d.output, (state.status === 2 ? '<rejected> ' : '') + show(ctx, state.value, depth));
        };
        break;
      case 'WeakMap': case 'WeakSet':
        d.open = `${plain(type)}{`;
        push(d.output, '<items unknown>');
        break;
      case 'ArrayBuffer':
        d.open = `${plain('ArrayBuffer')}{`;
        d.fill = () => showBuffer(ctx, value, d.output);
        break;
      case 'DataView':
        d.open = `${plain('DataView')}{`;
        d.fill = () => {
          push(d.output, `byteLength: ${viewLength(value)}`);
          push(d.output, `byteOffset: ${viewOffset(value)}`);
          ctx.indent += 2;
          push(d.output, `buffer: ${show(ctx, viewBuffer(value), depth)}`);
          ctx.indent -= 2;
        };
        break;
      case 'Arguments': d.open = '[Arguments] {'; break;
      default:
        if (type === undefined && (name === 'Symbol' || name === 'BigInt'))
          d.base = showWrapper(ctx, name, value);
        if (type === undefined && natives.view !== undefined)
          showInterface(ctx, natives.view(value), depth, d);
        if (name !== 'Object' || tag !== '') d.open = `${plain('Object')}{`;
    }
    return d;
  }

  /* Shows an object by what natives.view() returned for it. */
  function showInterface(ctx, seen, depth, d) {
    if (seen === undefined) return;
    if (seen.text !== undefined) d.base = seen.text;
    const { fields, pairs } = seen;
    if (fields !== undefined && ownKeys(fields).length > 0)
      d.fill = () => {
        const names = ownKeys(fields);
        for (let i = 0; i < names.length; i++)
          push(d.output, showProperty(ctx, fields, names[i], depth, false));
      };
    if (pairs !== undefined && pairs.length > 0)
      d.fill = () => {
        for (let i = 0; i < pairs.length; i++)
          push(d.output,
            `${showPrimitive(ctx, pairs[i][0])} => ${showPrimitive(ctx, pairs[i][1])}`);
      };
  }

  /* The engine has no separate type for these two: trying is the only way. */
  function showWrapper(ctx, name, value) {
    try {
      return `[${name}: ${showPrimitive(ctx, wrapped[name](value))}]`;
    } catch {
      return '';
    }
  }

  function tagOf(value, name) {
    const tag = find(value, toStringTag);
    if (getOwnPropertyDescriptor(value, toStringTag)?.enumerable) return '';
    return typeof tag === 'string' && tag !== '' && tag !== name ? tag : '';
  }

  /* Short text for a value that is nested too deep. */
  function brief(value, name, tag) {
    if (isArray(value)) return name === 'Array' ? '[Array]' : `[${name}]`;
    const head = prefix(name, 'Object', tag);
    return `[${slice(head, 0, head.length - 1)}]`;
  }

  /* ---- how the entries of one object share lines ---- */

  /* One line if the object is short and shallow, or if one line is required;
   * otherwise one entry a line, or columns for long lists of short items. */
  function layOut(ctx, d, depth, value) {
    if (ctx.oneLine) {
      const base = d.base !== '' ? `${d.base} ` : '';
      return `${base}${d.open} ${join(d.output, ', ')} ${d.close}`;
    }
    const entries = d.output.length;
    let output = d.output;
    if (d.array && entries > 6) output = columns(ctx, output, value, d.cut);
    const head = d.base !== '' ? `${d.base} ` : '';
    if (ctx.level - depth < LEVELS && entries === output.length) {
      let total = output.length + output.length + ctx.indent + d.open.length + d.base.length + 10;
      for (let i = 0; i < output.length; i++) total += output[i].length;
      if (total <= LINE && indexOf(d.base, '\n') < 0) {
        const line = join(output, ', ');
        if (indexOf(line, '\n') < 0) return `${head}${d.open} ${line} ${d.close}`;
      }
    }
    const newLine = `\n${repeat(' ', ctx.indent)}`;
    return `${head}${d.open}${newLine}  ${join(output, `,${newLine}  `)}${newLine}${d.close}`;
  }

  function columns(ctx, output, value, cut) {
    const count = cut ? output.length - 1 : output.length;
    let total = 0, longest = 0, padding = padStart;
    for (let i = 0; i < count; i++) {
      total += output[i].length + 2;
      longest = max(longest, output[i].length);
    }
    const widest = longest + 2;
    if (widest * 3 + ctx.indent >= LINE || !(total / widest > 5 || longest <= 6)) return output;
    const bias = max(widest - 3 - sqrt(widest - total / output.length), 1);
    const wide = min(round(sqrt(2.5 * bias * count) / bias),
      floor((LINE - ctx.indent) / widest), LEVELS * 4, 15);
    if (wide <= 1) return output;
    const widths = [];
    for (let i = 0; i < wide; i++) {
      let width = 0;
      for (let j = i; j < count; j += wide) width = max(width, output[j].length);
      push(widths, width + 2);
    }
    for (let i = 0; i < output.length && padding === padStart; i++) {
      const own = getOwnPropertyDescriptor(value, i);
      const type = own === undefined ? '' : typeof own.value;
      if (type !== 'number' && type !== 'bigint') padding = padEnd;
    }
    const rows = [];
    for (let i = 0; i < count; i += wide) {
      const end = min(i + wide, count) - 1;
      let row = '';
      for (let j = i; j < end; j++) row += padding(`${output[j]}, `, widths[j - i], ' ');
      row += padding === padStart ? padStart(output[end], widths[end - i] - 2, ' ') : output[end];
      push(rows, row);
    }
    if (cut) push(rows, output[count]);
    return rows;
  }

  function show(ctx, value, depth) {
    if (typeof value !== 'object' && typeof value !== 'function' || value === null)
      return showPrimitive(ctx, value);
    value = bare(value);
    if (value === null) return '<Revoked Proxy>';
    for (let i = 0; i < ctx.open.length; i++) {
      if (ctx.open[i] !== value) continue;
      let index = 0;
      while (index < ctx.circular.length && ctx.circular[index] !== value) index++;
      if (index === ctx.circular.length) push(ctx.circular, value);
      return `[Circular *${index + 1}]`;
    }
    return showObject(ctx, value, depth);
  }

  function showObject(ctx, value, depth) {
    const type = kind(value);
    const name = className(value);
    const tag = tagOf(value, name);
    const d = describe(ctx, value, type, name, tag, depth + 1);
    const bare = d.fill === undefined && d.output.length === 0 && d.keys.length === 0;

    if (bare) return d.base !== '' ? d.base : `${d.open}${d.close}`;
    if (depth > ctx.depth || ctx.budget < 0) return brief(value, name, tag);
    push(ctx.open, value);
    ctx.level = depth;
    if (d.fill !== undefined) d.fill();
    for (let i = 0; i < d.keys.length; i++) {
      if (ctx.budget < 0) {
        push(d.output, `... ${d.keys.length - i} more`);
        break;
      }
      const shown = showProperty(ctx, value, d.keys[i], depth + 1, false);
      if (shown !== '') push(d.output, shown);
      ctx.budget -= shown.length;
    }
    ctx.open.length--;
    let index = 0;
    while (index < ctx.circular.length && ctx.circular[index] !== value) index++;
    if (index < ctx.circular.length) {
      if (d.base !== '') d.base = `<ref *${index + 1}> ${d.base}`;
      else d.open = `<ref *${index + 1}> ${d.open}`;
    }
    if (d.output.length === 0) return d.base !== '' ? d.base : `${d.open}${d.close}`;
    return layOut(ctx, d, depth, value);
  }

  /* An error on one line, with its properties besides the message, such as a code. */
  function oneLine(ctx, error) {
    const keys = ownKeys(error), words = [];
    for (let i = 0; i < min(keys.length, ITEMS); i++) {
      const { enumerable, value } = getOwnPropertyDescriptor(error, keys[i]);
      if (enumerable && value !== undefined && typeof value !== 'object')
        push(words, showProperty(ctx, error, keys[i], 0, false));
    }
    return headOf(error) + (words.length === 0 ? '' : ` { ${join(words, ', ')} }`);
  }

  /* Does the text already contain all of a cause? One without a message may add a
   * code. */
  function isSaid(all, cause) {
    if (cause === undefined || cause === '') return true;
    const message = typeof cause === 'object' && cause !== null ? find(cause, 'message') : cause;
    return typeof message === 'string' && message !== '' && indexOf(all, message) >= 0;
  }

  /* One of the errors of an AggregateError, and where it was made. */
  function showInner(ctx, error) {
    const stack = kind(error) === 'Error' ? find(error, 'stack') : undefined;
    const at = typeof stack === 'string' ? frames(stack) : '';
    const all = kind(error) === 'Error' ? oneLine(ctx, error) : show(ctx, error, 0);
    const end = indexOf(at, '\n', 0);
    return (all.length > INNER ? `${slice(all, 0, INNER)}...` : all) +
      slice(at, 3, end < 0 ? at.length : end);
  }

  function showErrors(ctx, error) {
    const list = getOwnPropertyDescriptor(error, 'errors')?.value, words = [];
    if (kind(list) === 'Proxy' || !isArray(list) || list.length === 0) return '';
    for (let i = 0; i < min(list.length, INNERS); i++)
      push(words, showInner(ctx, getOwnPropertyDescriptor(list, i)?.value));
    if (list.length > INNERS) push(words, `${list.length - INNERS} more`);
    return `; errors: ${join(words, '; ')}`;
  }

  /* At most two causes of an error, unless an earlier message contains them. */
  function showCauses(ctx, error) {
    let all = headOf(error) + showErrors(ctx, error);
    const { length } = headOf(error);
    for (let level = 0; level < 2 && kind(error) === 'Error'; level++) {
      error = getOwnPropertyDescriptor(error, 'cause')?.value;
      if (isSaid(all, error)) continue;
      all += `; cause: ${kind(error) === 'Error' ? oneLine(ctx, error) : show(ctx, error, 0)}`;
    }
    return slice(all, length);
  }

  return function inspect(value, options) {
    const ctx = {
      __proto__: null, indent: 0, level: 0, open: [], circular: [], budget: BUDGET,
      depth: options.depth ?? 2, hidden: options.hidden ?? false, oneLine: options.oneLine ?? false,
      compact: !options.oneLine,
      maxString: STRING,
    };
    try {
      return options.causes === true ? showCauses(ctx, value) : show(ctx, value, 0);
    } catch {
      return '[too deep to show]';
    }
  };
})
