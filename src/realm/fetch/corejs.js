/* SPDX-License-Identifier: MIT */
/* corejs - what is taken from core-js, which in its pure form changes no global. Module by
 * module: the usual way in brings collections of its own along, and 6 ms. */
import 'core-js-pure/modules/web.atob.js';
import 'core-js-pure/modules/web.btoa.js';
import 'core-js-pure/modules/web.dom-exception.constructor.js';
import 'core-js-pure/modules/web.dom-exception.stack.js';
import 'core-js-pure/modules/web.dom-exception.to-string-tag.js';
import 'core-js-pure/modules/web.structured-clone.js';
import path from 'core-js-pure/internals/path.js';

export const { DOMException, atob, btoa, structuredClone } = path;
