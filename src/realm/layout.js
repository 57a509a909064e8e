/* SPDX-License-Identifier: MIT */
/*
 * layout - how the entries of one shown object share lines.
 *
 * Evaluates to a function without arguments. Its value is layOut(ctx, d, depth, value),
 * where d has the text before the braces, the braces and the entries.
 */
(function () {
  'use strict';
  const { apply, getOwnPropertyDescriptor } = Reflect;
  const { max, min, round, sqrt, floor } = Math;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const indexOf = uncurry(String.prototype.indexOf);
  const padStart = uncurry(String.prototype.padStart);
  const padEnd = uncurry(String.prototype.padEnd);
  const repeat = uncurry(String.prototype.repeat);

  const LINE = 80; /* where Node breaks a line when nothing says how wide it is */
  const LEVELS = 3; /* this many inner levels may share one line */

  function push(list, item) {
    list[list.length] = item;
  }

  function join(list, separator) {
    let all = '';
    for (let i = 0; i < list.length; i++) all += i === 0 ? list[i] : separator + list[i];
    return all;
  }

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

  return layOut;
})
