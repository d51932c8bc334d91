; A namespace is the file's package, so it is not in the name.
(class_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @type
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @method
(program (const_declaration (const_element . (name) @name) @constant))
(program (expression_statement (assignment_expression
  left: (variable_name (name) @name) right: [(anonymous_function) (arrow_function)]) @function))

(comment) @comment
(namespace_use_declaration) @import
(require_expression [(string) (encapsed_string) (binary_expression (string))] @import)
(require_once_expression [(string) (encapsed_string) (binary_expression (string))] @import)
(include_expression [(string) (encapsed_string) (binary_expression (string))] @import)
(include_once_expression [(string) (encapsed_string) (binary_expression (string))] @import)
