; inherits: ecmascript
(abstract_class_declaration name: (_) @name) @class
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @method
(function_signature name: (_) @name) @function
; const f = ((…) => …) as T
(program [
  (lexical_declaration (variable_declarator name: (identifier) @name
    value: (as_expression (parenthesized_expression (arrow_function)))) @function)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
    value: (as_expression (parenthesized_expression (arrow_function)))) @function))
])
(class_body (method_signature name: (_) @name) @method)
(abstract_method_signature name: (_) @name) @method
(interface_declaration name: (_) @name) @type
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @type
(internal_module name: [(identifier) (nested_identifier)] @name) @namespace
(module name: [(identifier) (nested_identifier)] @name) @namespace

; Inside a namespace, and after `declare`.
(internal_module (statement_block [
  (lexical_declaration (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression)]) @function)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression)]) @function))
]))
(internal_module (statement_block [
  (lexical_declaration (variable_declarator name: (identifier) @name) @constant)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @constant))
]))
(ambient_declaration (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant))
(ambient_declaration (_ (variable_declarator name: (identifier) @name) @variable))

(import_require_clause source: (string) @import)
