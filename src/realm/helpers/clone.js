/* SPDX-License-Identifier: MIT */
/* clone - structuredClone. */
(function (natives, load) {
  'use strict';
  const { kind, typedArray } = natives;
  const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { isArray } = Array;
  const global = globalThis;
  const ArrayOf = Array, MapOf = Map, SetOf = Set, DateOf = Date, RegExpOf = RegExp, BufferOf = ArrayBuffer;
  const ViewOf = DataView, ErrorOf = Error, TypeErrorOf = TypeError, ObjectOf = Object, Bytes = Uint8Array;
  const uncurry = (method) => (self, ...args) => apply(method, self, args);
  const getter = (proto, name) => uncurry(getOwnPropertyDescriptor(proto, name).get);
  const mapGet = uncurry(MapOf.prototype.get), mapSet = uncurry(MapOf.prototype.set);
  const mapHas = uncurry(MapOf.prototype.has), mapEach = uncurry(MapOf.prototype.forEach);
  const setAdd = uncurry(SetOf.prototype.add), setEach = uncurry(SetOf.prototype.forEach);
  const getTime = uncurry(DateOf.prototype.getTime);
  const source = getter(RegExpOf.prototype, 'source'), flags = getter(RegExpOf.prototype, 'flags');
  const typedArrays = getPrototypeOf(Bytes.prototype);
  const parts = (proto) => ({
    buffer: getter(proto, 'buffer'), offset: getter(proto, 'byteOffset'), length: getter(proto, 'byteLength'),
  });
  const ofArray = { ...parts(typedArrays), length: getter(typedArrays, 'length') }, ofView = parts(ViewOf.prototype);
  const bufferLength = getter(BufferOf.prototype, 'byteLength');
  const isResizable = getter(BufferOf.prototype, 'resizable'), maxLength = getter(BufferOf.prototype, 'maxByteLength');
  const transferBuffer = uncurry(BufferOf.prototype.transfer);
  const setBytes = uncurry(typedArrays.set);
  const values = {
    __proto__: null,
    Boolean: uncurry(Boolean.prototype.valueOf), Number: uncurry(Number.prototype.valueOf),
    String: uncurry(String.prototype.valueOf),
  };
  const bigInts = BigInt.prototype, bigInt = uncurry(bigInts.valueOf);
  const ERRORS = {
    __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError,
  };
  const WHAT = { __proto__: null, function: 'a function', symbol: 'a symbol' };

  function refuse(what) {
    throw new (load('exception').DOMException)(`${what} could not be cloned.`, 'DataCloneError');
  }

  function put(object, name, value, enumerable = true) {
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable, configurable: true });
  }

  function cloneError(value, clone) {
    const own = (name) => getOwnPropertyDescriptor(value, name);
    const Kind = ERRORS[value.name] ?? ErrorOf;
    const message = own('message'), made = new Kind();
    if (message !== undefined && 'value' in message) put(made, 'message', `${message.value}`, false);
    put(made, 'stack', `${own('stack')?.value ?? ''}`, false);
    return [made, () => {
      if (own('cause') !== undefined) put(made, 'cause', clone(value.cause), false);
      if (own('errors') !== undefined) put(made, 'errors', clone(value.errors), false);
    }];
  }

  function cloneBuffer(buffer) {
    const length = bufferLength(buffer);
    const made = isResizable(buffer)
      ? new BufferOf(length, { maxByteLength: maxLength(buffer) }) : new BufferOf(length);
    setBytes(new Bytes(made), new Bytes(buffer));
    return made;
  }

  function cloneMap(value, clone) {
    const made = new MapOf(), entries = [];
    mapEach(value, (item, key) => { entries[entries.length] = [key, item]; });
    return [made, () => {
      for (let i = 0; i < entries.length; i++) mapSet(made, clone(entries[i][0]), clone(entries[i][1]));
    }];
  }

  function cloneSet(value, clone) {
    const made = new SetOf(), items = [];
    setEach(value, (item) => { items[items.length] = item; });
    return [made, () => {
      for (let i = 0; i < items.length; i++) setAdd(made, clone(items[i]));
    }];
  }

  function cloneView(value, type, clone) {
    if (type === undefined)
      return [new ViewOf(clone(ofView.buffer(value)), ofView.offset(value), ofView.length(value))];
    return [new global[type](clone(ofArray.buffer(value)), ofArray.offset(value), ofArray.length(value))];
  }

  /* All own properties, of an array its length as well. */
  function cloneObject(value, clone) {
    const made = isArray(value) ? new ArrayOf(value.length) : {};
    return [made, () => {
      const keys = ownKeys(value);
      for (let i = 0; i < keys.length; i++)
        if (typeof keys[i] === 'string' && getOwnPropertyDescriptor(value, keys[i])?.enumerable)
          put(made, keys[i], clone(value[keys[i]]));
    }];
  }

  /* [what it becomes, what fills it once it is known]: it may hold itself. */
  function cloneOne(value, clone) {
    const type = kind(value), array = typedArray(value);
    if (array !== undefined) return cloneView(value, array, clone);
    /* The engine has no kind for it. */
    if (type === undefined && getPrototypeOf(value) === bigInts) return [ObjectOf(bigInt(value))];
    switch (type) {
      case 'Date': return [new DateOf(getTime(value))];
      case 'RegExp': return [new RegExpOf(source(value), flags(value))];
      case 'Boolean': case 'Number': case 'String': return [ObjectOf(values[type](value))];
      case 'ArrayBuffer': return [cloneBuffer(value)];
      case 'DataView': return cloneView(value, undefined, clone);
      case 'Map': return cloneMap(value, clone);
      case 'Set': return cloneSet(value, clone);
      case 'Error': return cloneError(value, clone);
      case 'Arguments': case undefined: return cloneObject(value, clone);
      default: return refuse(`#<${type}>`);
    }
  }

  const { structuredClone } = {
    structuredClone(value, options = undefined) {
      if (arguments.length === 0) throw new TypeErrorOf('structuredClone needs 1 argument');
      const known = new MapOf();
      const transfer = options?.transfer === undefined ? [] : [...options.transfer];
      for (let i = 0; i < transfer.length; i++) {
        if (kind(transfer[i]) !== 'ArrayBuffer' || mapHas(known, transfer[i])) refuse('What is to be transferred');
        mapSet(known, transfer[i], undefined);
      }
      for (let i = 0; i < transfer.length; i++) mapSet(known, transfer[i], transferBuffer(transfer[i]));

      function clone(each) {
        if (typeof each === 'function' || typeof each === 'symbol') return refuse(WHAT[typeof each]);
        if (typeof each !== 'object' || each === null) return each;
        if (mapHas(known, each)) return mapGet(known, each);
        const [made, fill] = cloneOne(each, clone);
        mapSet(known, each, made);
        fill?.();
        return made;
      }
      return clone(value);
    },
  };
  return { structuredClone };
})
