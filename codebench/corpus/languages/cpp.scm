; inherits: c
; A namespace is in the name, so that `void a::B::c()` and the same inside `namespace a` agree.
(namespace_definition name: (_) @name) @namespace
(class_specifier name: (_) @name body: (_)) @class
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(function_definition declarator: [
  (reference_declarator (function_declarator declarator: (_) @name))
  (operator_cast) @name
  (qualified_identifier name: (operator_cast)) @name
]) @function
(field_declaration declarator: [
  (function_declarator declarator: (_) @name)
  (pointer_declarator declarator: (function_declarator declarator: (_) @name))
  (reference_declarator (function_declarator declarator: (_) @name))
]) @declaration
(declaration declarator: [
  (reference_declarator (function_declarator declarator: (_) @name))
  (function_declarator declarator: [(destructor_name) (operator_name) (qualified_identifier)] @name)
  (operator_cast) @name
]) @declaration
(declaration declarator: (init_declarator declarator: (reference_declarator (identifier) @name))) @variable
(template_parameter_list) @attribute
