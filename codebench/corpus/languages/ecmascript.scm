; What JavaScript and TypeScript share.
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @method

; A function or a class bound to a name at the top of a file.
(program [
  (_ (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression) (generator_function)]) @function)
  (export_statement (_ (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression) (generator_function)]) @function))
])
(program [
  (_ (variable_declarator name: (identifier) @name value: (class)) @class)
  (export_statement (_ (variable_declarator name: (identifier) @name value: (class)) @class))
])
; A component in its wrapper: memo(() => …), forwardRef(function …)
(program [
  (lexical_declaration (variable_declarator name: (identifier) @name
    value: (call_expression arguments: (arguments . [(arrow_function) (function_expression)]))) @function)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
    value: (call_expression arguments: (arguments . [(arrow_function) (function_expression)]))) @function))
])
(program [
  (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)
  (export_statement (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant))
])
(program [
  (_ (variable_declarator name: (identifier) @name) @variable)
  (export_statement (_ (variable_declarator name: (identifier) @name) @variable))
])

; exports.x = function …, Foo.prototype.bar = …, app.use = …
(program (expression_statement (assignment_expression
  left: [
    (identifier) @name
    (member_expression object: (_) @scope property: (property_identifier) @name)
  ]
  right: [(function_expression) (arrow_function) (generator_function)]) @function))
(program (expression_statement (assignment_expression
  left: [
    (identifier) @name
    (member_expression object: (_) @scope property: (property_identifier) @name)
  ]
  right: (class)) @class))

((export_statement "default"
  value: [(function_expression) (arrow_function) (generator_function)]) @function (#set! name "default"))
((export_statement "default" value: (class)) @class (#set! name "default"))
((export_statement "default"
  value: [(object) (call_expression) (new_expression)]) @constant (#set! name "default"))

(decorator) @attribute
(comment) @comment

(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: [(identifier) (import)] @required arguments: (arguments . (string) @import)
  (#any-of? @required "require" "import"))
