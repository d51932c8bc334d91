; Stored properties belong to their type, a computed one is a method.
(class_declaration declaration_kind: "extension" name: (_) @name) @extension
(class_declaration declaration_kind: "enum" name: (_) @name) @class
(class_declaration name: (_) @name) @class
(protocol_declaration name: (_) @name) @type
(typealias_declaration name: (type_identifier) @name) @type
(function_declaration "func" . _ @name) @function
(protocol_function_declaration "func" . _ @name) @function
((init_declaration) @method (#set! name "init"))
((deinit_declaration) @method (#set! name "deinit"))
((subscript_declaration) @method (#set! name "subscript"))
(property_declaration name: (pattern bound_identifier: (_) @name) computed_value: (_)) @function
(source_file (property_declaration
  (value_binding_pattern mutability: "let") name: (pattern bound_identifier: (_) @name)) @constant)
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)) @variable)

(comment) @comment
(multiline_comment) @comment
(import_declaration) @import
