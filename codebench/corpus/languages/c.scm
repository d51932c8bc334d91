; A prototype is a chunk where the file does not define the function itself.
(function_definition declarator: [
  (function_declarator declarator: (_) @name)
  (pointer_declarator declarator: (function_declarator declarator: (_) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
]) @function
(declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
]) @declaration

; typedef struct node { … } node_t; is one thing, called node_t.
(type_definition type: [
  (struct_specifier name: (_) @name)
  (union_specifier name: (_) @name)
  (enum_specifier name: (_) @name)
]) @ignored

(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
]) @type

(declaration declarator: [
  (identifier) @name
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)
  (init_declarator declarator: (identifier) @name)
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)))
  (init_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @name)))
]) @variable

(preproc_function_def name: (identifier) @name) @function
; Without a value it is an include guard or a switch.
(preproc_def name: (identifier) @name value: (_)) @constant

(comment) @comment
(preproc_include path: (_) @import)

(struct_specifier name: (_) @name body: (_)) @type
(union_specifier name: (_) @name body: (_)) @type
(enum_specifier name: (_) @name body: (_)) @type
