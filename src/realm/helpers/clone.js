/* SPDX-License-Identifier: MIT */
/* clone - structuredClone. */
(function (natives, load) {
  'use strict';
  const { kind, put, typedArray } = natives;
  const { getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const global = globalThis;
  /* Some realms lack these names. */
  const BufferOf = ArrayBuffer, Bytes = Uint8Array, BigIntOf = BigInt;
  const ERRORS = {
    __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
  };
  const WHAT = { __proto__: null, function: 'a function', symbol: 'a symbol' };

  function refuse(what) {
    throw new (load('exception').DOMException)(`${what} could not be cloned.`, 'DataCloneError');
  }

  function cloneError(value, clone) {
    const own = (name) => getOwnPropertyDescriptor(value, name);
    const Kind = ERRORS[value.name] ?? Error;
    const message = own('message'), made = new Kind();
    if (message !== undefined && 'value' in message) put(made, 'message', `${message.value}`, false);
    put(made, 'stack', `${own('stack')?.value ?? ''}`, false);
    return { made, fill() {
      if (own('cause') !== undefined) put(made, 'cause', clone(value.cause), false);
      if (own('errors') !== undefined) put(made, 'errors', clone(value.errors), false);
    } };
  }

  function cloneBuffer(buffer) {
    const made = buffer.resizable
      ? new BufferOf(buffer.byteLength, { maxByteLength: buffer.maxByteLength })
      : new BufferOf(buffer.byteLength);
    new Bytes(made).set(new Bytes(buffer));
    return made;
  }

  function cloneMap(value, clone) {
    const made = new Map(), entries = [];
    Map.prototype.forEach.call(value, (item, key) => entries.push([key, item]));
    return { made, fill() {
      for (let i = 0; i < entries.length; i++) made.set(clone(entries[i][0]), clone(entries[i][1]));
    } };
  }

  function cloneSet(value, clone) {
    const made = new Set(), items = [];
    Set.prototype.forEach.call(value, (item) => items.push(item));
    return { made, fill() {
      for (let i = 0; i < items.length; i++) made.add(clone(items[i]));
    } };
  }

  /* All own properties, and the length of an array. */
  function cloneObject(value, clone) {
    const made = Array.isArray(value) ? new Array(value.length) : {};
    return { made, fill() {
      const keys = ownKeys(value);
      for (let i = 0; i < keys.length; i++)
        if (typeof keys[i] === 'string' && getOwnPropertyDescriptor(value, keys[i])?.enumerable)
          put(made, keys[i], clone(value[keys[i]]), true);
    } };
  }

  /* Returns { made, fill }: the copy, and a function that fills it once it is known, since a
   * value may contain itself. */
  function cloneOne(value, clone) {
    const type = kind(value), array = typedArray(value);
    if (array !== undefined || type === 'DataView')
      return { made: new (global[array ?? type] ?? value.constructor)(
        clone(value.buffer), value.byteOffset, value.length ?? value.byteLength) };
    /* The engine has no type for a BigInt object. */
    if (type === undefined && getPrototypeOf(value) === BigIntOf.prototype) return { made: Object(BigIntOf(value)) };
    switch (type) {
      case 'Date': return { made: new Date(value) };
      case 'RegExp': return { made: new RegExp(value.source, value.flags) };
      case 'Boolean': case 'Number': case 'String':
        return { made: Object({ Boolean, Number, String }[type].prototype.valueOf.call(value)) };
      case 'ArrayBuffer': return { made: cloneBuffer(value) };
      case 'Map': return cloneMap(value, clone);
      case 'Set': return cloneSet(value, clone);
      case 'Error': return cloneError(value, clone);
      case 'Arguments': case undefined: return cloneObject(value, clone);
      default: return refuse(`#<${type}>`);
    }
  }

  const { structuredClone } = {
    structuredClone(value, options = undefined) {
      natives.need(arguments, 1, 'structuredClone');
      const known = new Map();
      const transfer = options?.transfer === undefined ? [] : [...options.transfer];
      for (let i = 0; i < transfer.length; i++) {
        if (kind(transfer[i]) !== 'ArrayBuffer' || known.has(transfer[i])) refuse('What is to be transferred');
        known.set(transfer[i], undefined);
      }
      /* A detached buffer would no longer show where its views begin: copy, then detach. */
      for (let i = 0; i < transfer.length; i++) known.set(transfer[i], cloneBuffer(transfer[i]));

      function clone(each) {
        if (typeof each === 'function' || typeof each === 'symbol') return refuse(WHAT[typeof each]);
        if (typeof each !== 'object' || each === null) return each;
        if (known.has(each)) return known.get(each);
        const one = cloneOne(each, clone);
        known.set(each, one.made);
        one.fill?.();
        return one.made;
      }
      const made = clone(value);
      for (let i = 0; i < transfer.length; i++) transfer[i].transfer(0);
      return made;
    },
  };
  return { structuredClone };
})
