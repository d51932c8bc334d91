; A companion gives no name: what is in it belongs to the class around it.
(class_declaration "interface" name: (_) @name) @type
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name) @class
(type_alias type: (_) @name) @type
(function_declaration [(user_type) (nullable_type)] @scope . name: (_) @name) @function
(function_declaration name: (_) @name) @function
((secondary_constructor) @method (#set! name "constructor"))
(property_declaration (variable_declaration . (identifier) @name) (getter)) @function
(source_file (property_declaration "val" (variable_declaration . (identifier) @name)) @constant)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @variable)

(line_comment) @comment
(block_comment) @comment
(import) @import
