/* SPDX-License-Identifier: MIT */
/* exception - DOMException, which all the other helpers throw. */
(function (natives) {
  'use strict';
  const { defineProperty, setPrototypeOf } = Reflect;
  const { put, tag } = natives;
  const ErrorOf = Error;

  /* Constants by number, from 1; an exception with the paired name has that number
   * as its code. */
  const CONSTANTS = [
    'INDEX_SIZE_ERR', 'DOMSTRING_SIZE_ERR', 'HIERARCHY_REQUEST_ERR', 'WRONG_DOCUMENT_ERR',
    'INVALID_CHARACTER_ERR', 'NO_DATA_ALLOWED_ERR', 'NO_MODIFICATION_ALLOWED_ERR', 'NOT_FOUND_ERR',
    'NOT_SUPPORTED_ERR', 'INUSE_ATTRIBUTE_ERR', 'INVALID_STATE_ERR', 'SYNTAX_ERR',
    'INVALID_MODIFICATION_ERR', 'NAMESPACE_ERR', 'INVALID_ACCESS_ERR', 'VALIDATION_ERR',
    'TYPE_MISMATCH_ERR', 'SECURITY_ERR', 'NETWORK_ERR', 'ABORT_ERR', 'URL_MISMATCH_ERR',
    'QUOTA_EXCEEDED_ERR', 'TIMEOUT_ERR', 'INVALID_NODE_TYPE_ERR', 'DATA_CLONE_ERR',
  ];
  const NAMES = [
    'IndexSizeError', '', 'HierarchyRequestError', 'WrongDocumentError', 'InvalidCharacterError',
    '', 'NoModificationAllowedError', 'NotFoundError', 'NotSupportedError', 'InUseAttributeError',
    'InvalidStateError', 'SyntaxError', 'InvalidModificationError', 'NamespaceError',
    'InvalidAccessError', '', 'TypeMismatchError', 'SecurityError', 'NetworkError', 'AbortError',
    'URLMismatchError', 'QuotaExceededError', 'TimeoutError', 'InvalidNodeTypeError',
    'DataCloneError',
  ];

  class DOMException {
    #name;
    #message;

    constructor(message = '', options = 'Error') {
      const hasOptions = typeof options === 'object' && options !== null;
      const name = hasOptions ? options.name ?? 'Error' : options;
      this.#name = `${name}`;
      this.#message = `${message}`;
      put(this, 'stack', new ErrorOf(message).stack, false);
      if (hasOptions && 'cause' in options) put(this, 'cause', options.cause, false);
    }

    get name() {
      return this.#name;
    }

    get message() {
      return this.#message;
    }

    get code() {
      return this.#name === '' ? 0 : NAMES.indexOf(this.#name) + 1;
    }

    static view(value) {
      return typeof value === 'object' && value !== null && #name in value
        ? { __proto__: null, text: `DOMException [${value.#name}]: ${value.#message}` } : undefined;
    }
  }
  const { view } = DOMException;
  delete DOMException.view;
  natives.views[natives.views.length] = view;
  const { prototype } = DOMException;
  setPrototypeOf(prototype, ErrorOf.prototype);
  const constant = { __proto__: null, value: 0, enumerable: true };
  for (let i = 0; i < CONSTANTS.length; i++) {
    constant.value = i + 1;
    defineProperty(DOMException, CONSTANTS[i], constant);
    defineProperty(prototype, CONSTANTS[i], constant);
  }
  tag(prototype, 'DOMException');
  return { DOMException };
})
